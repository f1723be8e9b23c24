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
  'The password is asked for twice at a terminal, else it is the one line on standard input. It is never an argument.'
const passwordRule = 'A password has 15 to 256 characters and is not a common one.'
const revocationNote =
  'Sessions and refresh tokens end at once, access tokens within five minutes (PERMISSION_CACHE_TTL_SECONDS).'

const oneUser = { argumentsText: '<email or user name>', options: userOptions }
const oneClient = { argumentsText: '<client id>' }
const userRoles = {
  argumentsText: '<email or user name> [<role>...]',
  options: { ...userOptions, role: roleOption },
}
const clientRoles = { argumentsText: '<client id> [<role>...]', options: { role: roleOption } }

const userCommands: Record<string, CommandSpec> = {
  'user add': {
    summary: 'add a user',
    argumentsText: '<email>',
    options: {
      email: { value: 'EMAIL', description: 'what the user signs in with' },
      'user-name': { value: 'NAME', description: 'shown on orders; default: the email up to its @' },
      role: roleOption,
      invite: { description: 'without a password: `user link` lets the user set one' },
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
  'user disable': {
    ...oneUser,
    summary: 'shut a user out',
    notes: [revocationNote],
    examples: ['user disable jo@example.com'],
    load: async () => (await import('./accounts.ts')).runSetEnabled('user', false),
  },
  'user enable': {
    ...oneUser,
    summary: 'let a disabled user in again',
    notes: ['What ended with the disable stays ended: the user signs in anew.'],
    examples: ['user enable jo@example.com'],
    load: async () => (await import('./accounts.ts')).runSetEnabled('user', true),
  },
  'user sign-out': {
    argumentsText: '<email or user name> | --all',
    summary: 'end all sessions and tokens of a user, or of all users',
    options: { ...userOptions, all: { description: 'every user; services keep theirs' } },
    notes: [revocationNote, 'Whoever has the password can sign in again at once.'],
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
    summary: 'print a one-time link by which a user sets a password',
    notes: [
      'For a new user or a forgotten password. The link works once, for 24 hours, and voids the one before. Nothing is mailed: hand it over in a way that nobody else can read.',
      'What the user has stays until the link is used; then sessions and refresh tokens end at once, access tokens within five minutes (PERMISSION_CACHE_TTL_SECONDS).',
    ],
    examples: ['user link jo@example.com', 'user link jo --json'],
    load: async () => (await import('./users.ts')).runLink,
  },
  'user grant': {
    ...userRoles,
    summary: 'give a user roles',
    notes: ['An added role shows when the user next signs in or refreshes.'],
    examples: ['user grant jo@example.com Operator', 'user grant jo --role Operator,Viewer'],
    load: async () => (await import('./accounts.ts')).runChangeRoles('user', 'grantRoles'),
  },
  'user revoke': {
    ...userRoles,
    summary: 'take roles from a user',
    notes: [
      'Sessions go on without them at once. Access tokens end within five minutes (PERMISSION_CACHE_TTL_SECONDS); a refresh gives one with the roles that are left.',
    ],
    examples: ['user revoke jo@example.com Operator'],
    load: async () => (await import('./accounts.ts')).runChangeRoles('user', 'revokeRoles'),
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
        description: 'from then on it gets no token, in UTC such as 2027-06-30T22:00:00Z',
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
    options: { now: { description: 'end every earlier secret at once, and the tokens that they bought' } },
    notes: [
      'The newest earlier secret stays active beside it; an older one is dropped. When the service uses the new one,' +
        ' `client drop-old-secret` ends the rotation. The secret of a demo client is always replaced at once.',
    ],
    examples: ['client rotate-secret billing', 'client rotate-secret billing --now'],
    load: async () => (await import('./clients.ts')).runRotateSecret,
  },
  'client drop-old-secret': {
    ...oneClient,
    summary: 'end a rotation: only the newest secret stays',
    notes: ['Access tokens issued so far end within five minutes (PERMISSION_CACHE_TTL_SECONDS).'],
    examples: ['client drop-old-secret billing'],
    load: async () => (await import('./clients.ts')).runDropOldSecret,
  },
  'client disable': {
    ...oneClient,
    summary: 'shut a service out',
    notes: ['Its access tokens end within five minutes (PERMISSION_CACHE_TTL_SECONDS).'],
    examples: ['client disable billing'],
    load: async () => (await import('./accounts.ts')).runSetEnabled('client', false),
  },
  'client enable': {
    ...oneClient,
    summary: 'let a disabled service in again',
    examples: ['client enable billing'],
    load: async () => (await import('./accounts.ts')).runSetEnabled('client', true),
  },
  'client grant': {
    ...clientRoles,
    summary: 'give a service roles',
    notes: ['An added role shows in the next token.'],
    examples: ['client grant billing Viewer'],
    load: async () => (await import('./accounts.ts')).runChangeRoles('client', 'grantRoles'),
  },
  'client revoke': {
    ...clientRoles,
    summary: 'take roles from a service',
    notes: ['Its access tokens end within five minutes (PERMISSION_CACHE_TTL_SECONDS).'],
    examples: ['client revoke billing Operator'],
    load: async () => (await import('./accounts.ts')).runChangeRoles('client', 'revokeRoles'),
  },
}

const cacheNote = 'It shows on every instance within five minutes (PERMISSION_CACHE_TTL_SECONDS).'
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
    notes: [`The permissions are ${permissions.join(', ')}.`],
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
    notes: [`The permissions are ${permissions.join(', ')}.`, cacheNote],
    examples: ['role allow Operator Orders.Approve'],
    load: async () => (await import('./roles.ts')).runAllow,
  },
  'role deny': {
    ...rolePermission,
    summary: 'take permissions from a role',
    notes: [cacheNote],
    examples: ['role deny Operator Orders.Create'],
    load: async () => (await import('./roles.ts')).runDeny,
  },
}

const policyCommands: Record<string, CommandSpec> = {
  'policy list': {
    changesNothing: true,
    summary: 'show how many approvals an order needs, and whose',
    notes: ['The row with the greatest total that is not above an order’s applies to it.'],
    examples: ['policy list', 'policy list --json'],
    load: async () => (await import('./policy.ts')).runListPolicy,
  },
  'policy set': {
    argumentsText: '<from>=<approvals>,[no-]self,[no-]services ...',
    summary: 'replace the approval policy',
    notes: [
      'A row for each total from which on another number of approvals (1 to 5) is needed, ascending, the first from 0:' +
        ' self lets who created an order be one of those who approve it, services lets services.' +
        ' Every row says both, and `policy list` prints the rows as they are now.',
      'It holds for the orders that are created from now on. Pending orders keep what held when they were created.',
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
    summary: 'check the log: every hash, and that it agrees with checkpoints',
    options: {
      export: { value: 'FILE', description: 'an export to check offline; without it, the database' },
      checkpoint: {
        value: 'FILE',
        list: true,
        description:
          'checkpoints that were kept: a line is a JWS, an answer of the service, or of its log; repeatable',
      },
      jwks: {
        value: 'FILE',
        description: 'the key set (/.well-known/jwks.json) that signed the checkpoints',
      },
    },
    notes: [
      'The exit status is 1 when an event does not fit, and one line names the first; also when a checkpoint disagrees or' +
        ' covers more than there is. docs/auditing.md says what this proves, and what it does not.',
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
    summary: 'write the whole log, an event a line (JSON Lines)',
    notes: [
      'Without a file, or with -, to standard output. A file must not exist yet; only its owner may read it.',
    ],
    examples: ['log export log.jsonl', 'log export | gzip > log.jsonl.gz'],
    load: async () => (await import('./log.ts')).runExportLog,
  },
  'log checkpoint': {
    changesNothing: true,
    summary: 'print a signed statement of how far the log goes',
    notes: [
      'It needs the settings of the service: SIGNING_KEY_FILES and PUBLIC_URL. Keep what it prints where the operator' +
        ' of the service cannot reach.',
    ],
    examples: ['log checkpoint', 'log checkpoint | mail -s checkpoint auditor@example.org'],
    load: async () => (await import('./log.ts')).runLogCheckpoint,
  },
  'log erase-text': {
    argumentsText: '<sequence>',
    summary: 'erase the text of an event, a reason or a note, for good',
    notes: [
      'The event stays, with the hash of its text: the log still holds. The erasure is an event of its own.',
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
        description: 'development: keys made per run, demo accounts, loopback only; without it: production',
      },
      'allow-remote-demo': {
        description: 'with --dev: answer other machines too, with accounts that are public',
      },
      'no-demo-orders': { description: 'with --dev: seed the accounts without the orders' },
    },
    notes: ['Settings are environment variables or in .env; docs/configuration.md lists them.'],
    examples: ['serve --dev', 'serve'],
    load: async () => (await import('./serve.ts')).runServe,
  },
  'key generate': {
    changesNothing: true,
    summary: 'make a signing key (RSA) or an antiforgery key',
    options: {
      bits: { value: 'BITS', description: 'length of the RSA key, 2048 to 8192; default 3072' },
      out: {
        value: 'FILE',
        description: 'write a new file that only its owner may read; default: standard output',
      },
      antiforgery: { description: 'make a key for ANTIFORGERY_KEY or ANTIFORGERY_KEY_FILE instead' },
    },
    notes: ['Signing time grows steeply with the length: 2048 bits sign about three times as fast as 3072.'],
    examples: ['key generate --out signing.pem', 'key generate --antiforgery --out antiforgery.key'],
    load: async () => (await import('./keys.ts')).runGenerateKey,
  },
  migrate: {
    summary: 'bring the database up to date',
    notes: ['Every other command does this too before it starts.'],
    examples: ['migrate'],
    load: async () => (await import('./maintenance.ts')).runMigrate,
  },
  backup: {
    summary: 'copy the database, as one consistent snapshot, while the service runs',
    argumentsText: '<file>',
    notes: ['The file must not exist yet; only its owner may read it, for it holds password hashes.'],
    examples: ['backup /var/backups/countersign.db'],
    load: async () => (await import('./maintenance.ts')).runBackup,
  },
  seed: {
    summary: 'add invented orders, for trials and measurements',
    argumentsText: '--orders N',
    options: {
      orders: { value: 'N', description: 'how many' },
      days: { value: 'DAYS', description: 'spread their creation over the last DAYS; default 365' },
      yes: { description: 'also into a database with accounts that are not demo accounts' },
    },
    notes: [
      'They are added a thousand at a time: what an interruption leaves is a part of them, and a run after it adds all' +
        ' of its own. They are the same every time, but for the running instant. Their createdBy' +
        ' begins with seed: as no account does, so that the filter createdBy=seed:* tells them from real ones.',
    ],
    examples: ['seed --orders 1000000 --dev', 'seed --orders 250000 --days 90 --json'],
    load: async () => (await import('./seed.ts')).runSeed,
  },
  copy: {
    summary: 'carry a SQLite database over to an empty PostgreSQL database, whole and verified',
    argumentsText: '--from file:<path> --to postgres://...',
    options: {
      from: { value: 'ADDRESS', description: 'the SQLite database, file:PATH; it is left as it is' },
      to: { value: 'ADDRESS', description: 'the PostgreSQL database, postgres://...; it must be empty' },
    },
    notes: [
      'Everything arrives or nothing: it is one transaction, committed only when the count and the content of every' +
        ' table, read back, are those of the source. The target is migrated first, and refused if it holds anything.',
      'Stop the service first. While the copy runs nobody can write to the source (a service that runs on it answers' +
        ' its writes with 503); what is written to the source afterwards is not in the copy.',
      'The password of --to may stay out of the command line: PGPASSWORD and ~/.pgpass work.',
    ],
    examples: ['copy --from file:./data/countersign.db --to postgres://countersign@db.internal/countersign'],
    load: async () => (await import('./copy.ts')).runCopy,
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
