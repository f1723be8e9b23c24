import { permissions } from '../../caller/permissions.ts'
import type { runs } from '../accounts/accounts.ts'
import type { CommandSpec, OptionSpec } from '../command.ts'

type AccountCommand = keyof typeof runs

const roleOption: OptionSpec = {
  value: 'ROLE',
  list: true,
  description: 'Admin, Operator or Viewer; repeatable, or several with commas',
}

const userOptions: Record<string, OptionSpec> = {
  email: { value: 'EMAIL', description: 'email of the user, instead of the argument' },
  'user-name': { value: 'NAME', description: 'user name, instead of the argument' },
}

const passwordNote =
  'At a terminal you type the password twice; otherwise it is read from standard input. It is never an argument.'
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
const cacheNote = `Every instance applies it within five minutes ${cacheSetting}.`
const permissionsNote = `The permissions are ${permissions.join(', ')}.`
const rolePermission = { argumentsText: '<role> <permission>...' }

const specs: Record<AccountCommand, Omit<CommandSpec, 'load'>> = {
  'user add': {
    summary: 'add a user',
    argumentsText: '<email>',
    options: {
      email: { value: 'EMAIL', description: 'email that the user signs in with' },
      'user-name': {
        value: 'NAME',
        description: 'name on orders; default: the part of the email before the @',
      },
      name: { value: 'FULL-NAME', description: 'name of the person as certificates and mails print it' },
      role: roleOption,
      invite: { description: 'add without a password; `user link` lets the user set one' },
      'time-zone': {
        value: 'ZONE',
        description: 'time zone of what the user does, in the log, such as Europe/Berlin',
      },
    },
    notes: [passwordNote, passwordRule],
    examples: [
      'user add jo@example.com --role Operator',
      'user add jo@example.com --role Operator --invite',
      'user add --email jo@example.com --user-name jo --role Viewer --time-zone Asia/Tokyo < password.txt',
    ],
  },
  'user invite': {
    argumentsText: '<file>',
    summary: 'add the users of a CSV file, each with a one-time link',
    options: {
      links: { value: 'FILE', description: 'write the links to a new file (CSV: email, link)' },
    },
    notes: [
      'The file has up to 1,000 users. It begins with a line of headings: email, and if needed userName, roles and' +
        ' timeZone. Put spaces between roles. A row without a user name gets it from the email.',
      'Every row is checked first. If any row breaks a rule, all such rows are listed and nobody is added. Users whose' +
        ' email exists stay as they are, so you can give the same file again.',
      'A link sets the password, once, within 24 hours. A service with SMTP_URL mails it. Otherwise --links is needed;' +
        ' only the owner of that file may read it. `user link` makes another link.',
    ],
    examples: ['user invite users.csv', 'user invite users.csv --links links.csv'],
  },
  'user list': {
    changesNothing: true,
    summary: 'list the users',
    options: { filter: { value: 'TEXT', description: 'only users whose name or email begins with TEXT' } },
    examples: ['user list', 'user list --filter jo', 'user list --json'],
  },
  'user sign-out': {
    argumentsText: '<email or user name> | --all',
    summary: 'end all sessions and tokens of a user, or of all users',
    options: { ...userOptions, all: { description: 'all users; services keep their tokens' } },
    notes: [revocationNote, 'Anyone with the password can sign in again at once.'],
    examples: ['user sign-out jo@example.com', 'user sign-out --all'],
  },
  'user set-name': {
    namesPeople: true,
    argumentsText: '<email or user name> <name> | --none',
    summary: 'set the name of a user as certificates, mails and histories print it',
    options: { ...userOptions, none: { description: 'the user has no printed name' } },
    notes: ['It stands next to the user name: Jo Ann Lee (jo). Events of the past keep what they have.'],
    examples: ["user set-name jo@example.com 'Jo Ann Lee'", 'user set-name jo --none'],
  },
  'user set-password': {
    ...oneUser,
    summary: 'give a user a new password',
    notes: [passwordNote, passwordRule, `${revocationNote} Passkeys end as well.`],
    examples: ['user set-password jo@example.com', 'user set-password admin < password.txt'],
  },
  'user passkeys': {
    ...oneUser,
    changesNothing: true,
    summary: 'list the passkeys of a user',
    examples: ['user passkeys jo@example.com', 'user passkeys jo --json'],
  },
  'user unlink': {
    argumentsText: '<email or user name>',
    options: userOptions,
    summary: 'unlink the company account of a user',
    notes: [
      'Sessions that it began end. A user without a password and without passkeys keeps it: `user link` replaces it.',
    ],
    examples: ['user unlink jo@example.com'],
  },
  'user remove-passkey': {
    argumentsText: '<email or user name> <passkey>',
    options: userOptions,
    summary: 'remove a passkey of a user',
    notes: [
      'Name the passkey by its id (`user passkeys`). Sign-ins that began with it end. A user without a password' +
        ' keeps the last passkey: `user link` replaces all of them with a new password.',
    ],
    examples: ['user remove-passkey jo@example.com Aq7n3v0yT1u8w7x6'],
  },
  'user link': {
    ...oneUser,
    summary: 'print a one-time link for setting a password',
    notes: [
      'For a new user or a forgotten password. The link works once, within 24 hours, and replaces any earlier one.' +
        ' Send it over a channel that nobody else can read. A service with SMTP_URL mails another link to the user.',
      `Sessions, tokens and passkeys last until the link is used. ${revocationNote}`,
    ],
    examples: ['user link jo@example.com', 'user link jo --json'],
  },
  'user disable': {
    ...oneUser,
    summary: 'lock a user out',
    notes: [revocationNote],
    examples: ['user disable jo@example.com'],
  },
  'user enable': {
    ...oneUser,
    summary: 'let a disabled user in again',
    notes: ['The user has to sign in again: ended sessions and tokens stay ended.'],
    examples: ['user enable jo@example.com'],
  },
  'user grant': {
    ...userRoles,
    summary: 'give a user roles',
    notes: ['Added roles take effect when the user next signs in or refreshes.'],
    examples: ['user grant jo@example.com Operator', 'user grant jo --role Operator,Viewer'],
  },
  'user revoke': {
    ...userRoles,
    summary: 'take roles from a user',
    notes: [
      `Sessions lose the roles at once. Access tokens end within five minutes ${cacheSetting}; a refresh` +
        ' gives one with the remaining roles.',
    ],
    examples: ['user revoke jo@example.com Operator'],
  },
  'absence set': {
    ...oneUser,
    summary: 'let a deputy decide for a user who is away',
    options: {
      ...userOptions,
      deputy: { value: 'USER', description: 'email or user name of the deputy' },
      from: { value: 'INSTANT', description: 'when it begins, in UTC; default: now' },
      until: { value: 'INSTANT', description: 'when it ends, in UTC, at most 366 days after it begins' },
    },
    notes: [
      'The deputy can approve and reject whatever the user could, and every event names both. Deputies gain nothing' +
        ' for orders that they created or have approved, and cannot pass the right on.',
    ],
    examples: ['absence set ann --deputy bo@example.com --until 2027-01-04T08:00:00Z'],
  },
  'absence list': {
    changesNothing: true,
    summary: 'list the absences that have not ended',
    examples: ['absence list', 'absence list --json'],
  },
  'absence end': {
    ...oneUser,
    summary: 'end the absence of a user at once',
    examples: ['absence end ann'],
  },
  'client add': {
    ...oneClient,
    summary: 'add a service client and print its secret',
    options: {
      role: roleOption,
      'display-name': { value: 'NAME', description: 'the name that people see' },
      'ends-at': {
        value: 'INSTANT',
        description: 'when it stops getting tokens, in UTC, such as 2027-06-30T22:00:00Z',
      },
      owner: { value: 'USER', description: 'email or user name of the owner (`client set-owner`)' },
    },
    notes: ['The secret is printed once and stored as a hash: it cannot be shown again.'],
    examples: ['client add billing --role Operator', 'client add billing --role Operator --json'],
  },
  'client list': {
    changesNothing: true,
    summary: 'list the service clients',
    options: {
      filter: { value: 'TEXT', description: 'only clients whose id or display name begins with TEXT' },
    },
    examples: ['client list', 'client list --filter billing'],
  },
  'client set-owner': {
    argumentsText: '<client id> <email or user name> | --none',
    summary: 'set the user who counts as creator of the orders of a service',
    options: { none: { description: 'the service has no owner' } },
    notes: [
      'Where the policy excludes the creator, the owner cannot approve those orders, and the service cannot approve' +
        ' the orders of its owner. Existing orders keep the owner that they were created with.',
    ],
    examples: ['client set-owner billing ann@example.com', 'client set-owner billing --none'],
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
  },
  'client drop-old-secret': {
    ...oneClient,
    summary: 'end a rotation: only the newest secret stays',
    notes: [tokensEndNote],
    examples: ['client drop-old-secret billing'],
  },
  'client disable': {
    ...oneClient,
    summary: 'lock a service out',
    notes: [tokensEndNote],
    examples: ['client disable billing'],
  },
  'client enable': {
    ...oneClient,
    summary: 'let a disabled service in again',
    examples: ['client enable billing'],
  },
  'client grant': {
    ...clientRoles,
    summary: 'give a service roles',
    notes: ['Added roles take effect with the next token.'],
    examples: ['client grant billing Viewer'],
  },
  'client revoke': {
    ...clientRoles,
    summary: 'take roles from a service',
    notes: [tokensEndNote],
    examples: ['client revoke billing Operator'],
  },
  'role list': {
    changesNothing: true,
    summary: 'list the roles and their permissions',
    examples: ['role list'],
  },
  'role add': {
    argumentsText: '<role> [<permission>...]',
    summary: 'add a role',
    notes: [permissionsNote],
    examples: ['role add Auditor Orders.Read'],
  },
  'role remove': {
    argumentsText: '<role>',
    summary: 'remove a role that no account has',
    examples: ['role remove Auditor'],
  },
  'role allow': {
    ...rolePermission,
    summary: 'give a role permissions',
    notes: [permissionsNote, cacheNote],
    examples: ['role allow Operator Orders.Approve'],
  },
  'role deny': {
    ...rolePermission,
    summary: 'take permissions from a role',
    notes: [cacheNote],
    examples: ['role deny Operator Orders.Create'],
  },
}

export const accountCommands: Record<string, CommandSpec> = Object.fromEntries(
  Object.entries(specs).map(([name, spec]) => [
    name,
    { ...spec, load: async () => (await import('../accounts/accounts.ts')).runs[name as AccountCommand] },
  ]),
)
