import { permissions } from '../permissions.ts'
import type { CommandSpec, OptionSpec } from './command.ts'

const roleOption: OptionSpec = {
  value: 'ROLE',
  list: true,
  description: 'Admin, Operator or Viewer; repeatable, or several with commas',
}

const userOptions: Record<string, OptionSpec> = {
  email: { value: 'EMAIL', description: 'names the user by email' },
  'user-name': { value: 'NAME', description: 'names the user by user name' },
}

const passwordNote =
  'You are asked for the password twice at a terminal; elsewhere it is one line on standard input. It is never an argument.'
const passwordRule = 'A password has 15 to 256 characters and is not a common one.'
const cacheSetting = '(PERMISSION_CACHE_TTL_SECONDS)'
const revocationNote = `Sessions and refresh tokens end at once, access tokens within five minutes ${cacheSetting}.`
const tokensEndNote = `Its access tokens end within five minutes ${cacheSetting}.`

const oneUser = { argumentsText: '<email or user name>', options: userOptions }
const oneClient = { argumentsText: '<client id>' }

const userRoles = {
  argumentsText: '<email or user name> [<role>...]',
  options: { ...userOptions, role: roleOption },
}
const clientRoles = { argumentsText: '<client id> [<role>...]', options: { role: roleOption } }
const accounts = () => import('./accounts.ts')

const userCommands: Record<string, CommandSpec> = {
  'user add': {
    summary: 'add a user',
    argumentsText: '<email>',
    options: {
      email: { value: 'EMAIL', description: 'what the user signs in with' },
      'user-name': { value: 'NAME', description: 'shown on orders; default: the email up to its @' },
      role: roleOption,
      invite: { description: 'add without a password; `user link` lets the user set one' },
      'time-zone': {
        value: 'ZONE',
        description: 'IANA zone of the user’s audit stamps, such as Europe/Berlin',
      },
    },
    notes: [passwordNote, passwordRule],
    examples: [
      'user add jo@example.com --role Operator',
      'user add jo@example.com --role Operator --invite',
      'user add --email jo@example.com --user-name jo --role Viewer --time-zone Asia/Tokyo < password.txt',
    ],
    load: async () => (await import('./users.ts')).runAddUser,
  },
  'user list': {
    changesNothing: true,
    summary: 'list the users',
    examples: ['user list', 'user list --json'],
    load: async () => (await import('./users.ts')).runListUsers,
  },
  'user sign-out': {
    argumentsText: '<email or user name> | --all',
    summary: 'end all sessions and tokens of a user, or of all users',
    options: { ...userOptions, all: { description: 'every user; services keep theirs' } },
    notes: [revocationNote, 'Anyone with the password can sign in again at once.'],
    examples: ['user sign-out jo@example.com', 'user sign-out --all'],
    load: async () => (await import('./users.ts')).runSignOut,
  },
  'user set-password': {
    ...oneUser,
    summary: 'give a user a new password',
    notes: [passwordNote, passwordRule, revocationNote],
    examples: ['user set-password jo@example.com', 'user set-password admin < password.txt'],
    load: async () => (await import('./users.ts')).runSetPassword,
  },
  'user link': {
    ...oneUser,
    summary: 'print a one-time link for setting a password',
    notes: [
      'For a new user or a forgotten password. The link works once, within 24 hours, and replaces any earlier one.' +
        ' Nothing is mailed: send it over a channel that nobody else can read.',
      `Sessions and tokens last until the link is used. ${revocationNote}`,
    ],
    examples: ['user link jo@example.com', 'user link jo --json'],
    load: async () => (await import('./users.ts')).runLink,
  },
  'user disable': {
    ...oneUser,
    summary: 'lock a user out',
    notes: [revocationNote],
    examples: ['user disable jo@example.com'],
    load: async () => (await accounts()).runSetEnabled('user', false),
  },
  'user enable': {
    ...oneUser,
    summary: 'let a disabled user in again',
    notes: ['Sessions and tokens that have ended stay ended: the user signs in again.'],
    examples: ['user enable jo@example.com'],
    load: async () => (await accounts()).runSetEnabled('user', true),
  },
  'user grant': {
    ...userRoles,
    summary: 'give a user roles',
    notes: ['Added roles take effect when the user next signs in or refreshes.'],
    examples: ['user grant jo@example.com Operator', 'user grant jo --role Operator,Viewer'],
    load: async () => (await accounts()).runChangeRoles('user', 'grantRoles'),
  },
  'user revoke': {
    ...userRoles,
    summary: 'take roles from a user',
    notes: [
      `Sessions lose the roles at once. Access tokens end within five minutes ${cacheSetting}; a refresh` +
        ' gives one with the remaining roles.',
    ],
    examples: ['user revoke jo@example.com Operator'],
    load: async () => (await accounts()).runChangeRoles('user', 'revokeRoles'),
  },
}

const clientCommands: Record<string, CommandSpec> = {
  'client add': {
    ...oneClient,
    summary: 'add a service client and print its secret',
    options: {
      role: roleOption,
      name: { value: 'NAME', description: 'what people call it' },
      'ends-at': {
        value: 'INSTANT',
        description: 'when it stops getting tokens, in UTC, such as 2027-06-30T22:00:00Z',
      },
    },
    notes: ['The secret is printed once and stored as a hash: it cannot be shown again.'],
    examples: ['client add billing --role Operator', 'client add billing --role Operator --json'],
    load: async () => (await import('./clients.ts')).runAddClient,
  },
  'client list': {
    changesNothing: true,
    summary: 'list the service clients',
    examples: ['client list'],
    load: async () => (await import('./clients.ts')).runListClients,
  },
  'client rotate-secret': {
    ...oneClient,
    summary: 'add a second secret and print it',
    options: { now: { description: 'end every earlier secret at once, and the tokens issued for them' } },
    notes: [
      'The previous secret stays active as well; any older one is dropped. Once the service uses the new one,' +
        ' `client drop-old-secret` ends the rotation. The secret of a demo client is always replaced at once.',
    ],
    examples: ['client rotate-secret billing', 'client rotate-secret billing --now'],
    load: async () => (await import('./clients.ts')).runRotateSecret,
  },
  'client drop-old-secret': {
    ...oneClient,
    summary: 'end a rotation: only the newest secret stays',
    notes: [tokensEndNote],
    examples: ['client drop-old-secret billing'],
    load: async () => (await import('./clients.ts')).runDropOldSecret,
  },
  'client disable': {
    ...oneClient,
    summary: 'lock a service out',
    notes: [tokensEndNote],
    examples: ['client disable billing'],
    load: async () => (await accounts()).runSetEnabled('client', false),
  },
  'client enable': {
    ...oneClient,
    summary: 'let a disabled service in again',
    examples: ['client enable billing'],
    load: async () => (await accounts()).runSetEnabled('client', true),
  },
  'client grant': {
    ...clientRoles,
    summary: 'give a service roles',
    notes: ['Added roles take effect with the next token.'],
    examples: ['client grant billing Viewer'],
    load: async () => (await accounts()).runChangeRoles('client', 'grantRoles'),
  },
  'client revoke': {
    ...clientRoles,
    summary: 'take roles from a service',
    notes: [tokensEndNote],
    examples: ['client revoke billing Operator'],
    load: async () => (await accounts()).runChangeRoles('client', 'revokeRoles'),
  },
}

const cacheNote = `Every instance applies it within five minutes ${cacheSetting}.`
const permissionsNote = `The permissions are ${permissions.join(', ')}.`
const rolePermission = { argumentsText: '<role> <permission>...' }

const roleCommands: Record<string, CommandSpec> = {
  'role list': {
    changesNothing: true,
    summary: 'list the roles and their permissions',
    examples: ['role list'],
    load: async () => (await import('./roles.ts')).runListRoles,
  },
  'role add': {
    argumentsText: '<role> [<permission>...]',
    summary: 'add a role',
    notes: [permissionsNote],
    examples: ['role add Auditor Orders.Read'],
    load: async () => (await import('./roles.ts')).runAddRole,
  },
  'role remove': {
    argumentsText: '<role>',
    summary: 'remove a role that no account has',
    examples: ['role remove Auditor'],
    load: async () => (await import('./roles.ts')).runRemoveRole,
  },
  'role allow': {
    ...rolePermission,
    summary: 'give a role permissions',
    notes: [permissionsNote, cacheNote],
    examples: ['role allow Operator Orders.Approve'],
    load: async () => (await import('./roles.ts')).runChangePermissions('allowPermissions'),
  },
  'role deny': {
    ...rolePermission,
    summary: 'take permissions from a role',
    notes: [cacheNote],
    examples: ['role deny Operator Orders.Create'],
    load: async () => (await import('./roles.ts')).runChangePermissions('denyPermissions'),
  },
}

const policyCommands: Record<string, CommandSpec> = {
  'policy list': {
    changesNothing: true,
    summary: 'show how many approvals an order needs, and from whom',
    notes: ['The last row whose total the order reaches applies.'],
    examples: ['policy list', 'policy list --json'],
    load: async () => (await import('./policy.ts')).runListPolicy,
  },
  'policy set': {
    argumentsText: '<from>=<approvals>,[no-]self,[no-]services ...',
    summary: 'replace the approval policy',
    notes: [
      'A row gives the number of approvals (1 to 5) for orders from a total up. Rows ascend and the first starts at 0.' +
        ' `self` lets the creator of an order approve it, `services` lets services approve it. Every row says both;' +
        ' `policy list` prints the current rows.',
      'The policy applies to orders created from now on. Pending orders keep the policy under which they were created.',
    ],
    examples: [
      'policy set 0=1,self,services 10000=2,no-self,no-services',
      'policy set 0=2,no-self,no-services',
    ],
    load: async () => (await import('./policy.ts')).runSetPolicy,
  },
}

const logCommands: Record<string, CommandSpec> = {
  'log verify': {
    changesNothing: true,
    summary: 'check every hash of the log, and that it agrees with checkpoints',
    options: {
      export: { value: 'FILE', description: 'an export to check offline; without it, the database' },
      checkpoint: {
        value: 'FILE',
        list: true,
        description: 'kept checkpoints: each line a JWS, or JSON of the service or its log; repeatable',
      },
      jwks: {
        value: 'FILE',
        description: 'the key set (/.well-known/jwks.json) that signed the checkpoints',
      },
    },
    notes: [
      'The exit status is 1 when an event does not fit (one line names the first), or when a checkpoint disagrees or' +
        ' covers more than the log holds. docs/auditing.md says what this proves, and what it does not.',
    ],
    examples: [
      'log verify',
      'log verify --export log.jsonl --checkpoint june.txt --checkpoint july.txt --jwks jwks.json',
    ],
    load: async () => (await import('./log.ts')).runVerifyLog,
  },
  'log export': {
    changesNothing: true,
    argumentsText: '[<file>]',
    summary: 'write the whole log, one event a line (JSON Lines)',
    notes: [
      'Without a file, or with -, it goes to standard output. The file must not exist yet; only its owner may read it.',
    ],
    examples: ['log export log.jsonl', 'log export | gzip > log.jsonl.gz'],
    load: async () => (await import('./log.ts')).runExportLog,
  },
  'log checkpoint': {
    changesNothing: true,
    summary: 'print a signed statement of how far the log goes',
    notes: [
      'It needs the settings SIGNING_KEY_FILES and PUBLIC_URL of the service. Keep what it prints out of reach of' +
        ' those who operate the service.',
    ],
    examples: ['log checkpoint', 'log checkpoint | mail -s checkpoint auditor@example.org'],
    load: async () => (await import('./log.ts')).runLogCheckpoint,
  },
  'log erase-text': {
    argumentsText: '<sequence>',
    summary: 'erase the text of an event (a reason or a note) for good',
    notes: [
      'The event stays, with the hash of its text, so the log still verifies. The erasure is logged as an event.',
    ],
    examples: ['log erase-text 1043'],
    load: async () => (await import('./log.ts')).runEraseText,
  },
}

const otherCommands: Record<string, CommandSpec> = {
  serve: {
    changesNothing: true,
    summary: 'run the service',
    options: {
      dev: {
        description: 'development: new keys each run, demo accounts, loopback only; without it: production',
      },
      'allow-remote-demo': {
        description: 'with --dev: also answer other machines, although the demo accounts are public',
      },
      'no-demo-orders': { description: 'with --dev: add the demo accounts without demo orders' },
    },
    notes: ['Settings are environment variables, or lines of .env; docs/configuration.md lists them.'],
    examples: ['serve --dev', 'serve'],
    load: async () => (await import('./service.ts')).runServe,
  },
  'key generate': {
    changesNothing: true,
    summary: 'make a signing key (RSA) or an antiforgery key',
    options: {
      bits: { value: 'BITS', description: 'length of the RSA key, 2048 to 8192; default 3072' },
      out: {
        value: 'FILE',
        description: 'write to a new file that only its owner may read; default: standard output',
      },
      antiforgery: { description: 'make a key for ANTIFORGERY_KEY or ANTIFORGERY_KEY_FILE instead' },
    },
    notes: ['Longer keys sign more slowly: 2048 bits are about three times as fast as 3072.'],
    examples: ['key generate --out signing.pem', 'key generate --antiforgery --out antiforgery.key'],
    load: async () => (await import('./service.ts')).runGenerateKey,
  },
  migrate: {
    summary: 'bring the database up to date',
    notes: ['Every other command that opens the database does this first.'],
    examples: ['migrate'],
    load: async () => (await import('./maintenance.ts')).runMigrate,
  },
  backup: {
    summary: 'copy the database as one consistent snapshot, while the service runs',
    argumentsText: '<file>',
    notes: ['The file must not exist yet. It holds password hashes, so only its owner may read it.'],
    examples: ['backup /var/backups/countersign.db'],
    load: async () => (await import('./maintenance.ts')).runBackup,
  },
  seed: {
    summary: 'add invented orders, for trials and measurements',
    argumentsText: '--orders N',
    options: {
      orders: { value: 'N', description: 'how many' },
      days: { value: 'DAYS', description: 'spread their creation over this many days; default 365' },
      yes: { description: 'even if the database has accounts other than the demo accounts' },
    },
    notes: [
      'Orders are added a thousand at a time. An interrupted run leaves some of them; the next run adds its' +
        ' full number again. Every run makes the same orders, relative to the current time. Their createdBy starts with' +
        ' seed:, which no account name does, so the filter createdBy=seed:* finds exactly these.',
    ],
    examples: ['seed --orders 1000000 --dev', 'seed --orders 250000 --days 90 --json'],
    load: async () => (await import('./maintenance.ts')).runSeed,
  },
  copy: {
    summary: 'copy a SQLite database to an empty PostgreSQL one, and verify it',
    argumentsText: '--from file:<path> --to postgres://...',
    options: {
      from: { value: 'ADDRESS', description: 'the SQLite database, file:PATH; it is not changed' },
      to: { value: 'ADDRESS', description: 'the PostgreSQL database, postgres://...; it must be empty' },
    },
    notes: [
      'Everything is copied or nothing: one transaction, committed only when the count and the content of every table,' +
        ' read back, match the source. The target is migrated first, and refused if it holds anything.',
      'Stop the service first. While the copy runs, nobody can write to the source (a running service answers writes' +
        ' with 503). Later writes to the source are not in the copy.',
      'The password of --to need not be on the command line: PGPASSWORD and ~/.pgpass work.',
    ],
    examples: ['copy --from file:./data/countersign.db --to postgres://countersign@db.internal/countersign'],
    load: async () => (await import('./maintenance.ts')).runCopy,
  },
}

/** Every command by its words, in the order in which help lists them. */
export const commands: ReadonlyMap<string, CommandSpec> = new Map(
  Object.entries({
    ...otherCommands,
    ...userCommands,
    ...clientCommands,
    ...roleCommands,
    ...policyCommands,
    ...logCommands,
  }),
)
