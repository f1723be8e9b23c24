import type { CommandSpec } from '../command.ts'
import { eraOption } from './records.ts'

export const serviceCommands: Record<string, CommandSpec> = {
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
    load: async () => (await import('../service.ts')).runServe,
  },
  'key generate': {
    changesNothing: true,
    summary: 'make a signing key (RSA) or another key',
    options: {
      bits: { value: 'BITS', description: 'length of the RSA key, 2048 to 8192; default 3072' },
      out: {
        value: 'FILE',
        description: 'write to a new file that only its owner may read; default: standard output',
      },
      antiforgery: { description: 'make a key for ANTIFORGERY_KEY or ANTIFORGERY_KEY_FILE instead' },
      log: { description: 'make a key (Ed25519) that signs checkpoints instead, for a log or a witness' },
      webhook: { description: 'make a key for WEBHOOK_KEY_FILE instead' },
    },
    notes: ['Longer keys sign more slowly: 2048 bits are about three times as fast as 3072.'],
    examples: [
      'key generate --out signing.pem',
      'key generate --antiforgery --out antiforgery.key',
      'key generate --log --out log.pem',
      'key generate --webhook --out webhook.key',
    ],
    load: async () => (await import('../service.ts')).runGenerateKey,
  },
  'oidc check': {
    changesNothing: true,
    summary: 'try the settings of the company account',
    options: { dev: { description: 'take the defaults of development for settings that are not set' } },
    notes: [
      'Asks the provider for its addresses and keys, and tries the secret of the client. It signs nobody in.',
    ],
    examples: ['oidc check', 'oidc check --dev'],
    load: async () => (await import('../company.ts')).runCheckCompany,
  },
  version: {
    changesNothing: true,
    summary: 'print the version, or which versions read a database',
    options: { check: { value: 'FILE|URL', description: 'a database, which is not changed' } },
    examples: ['version', 'version --check /var/backups/countersign.db'],
    load: async () => (await import('../maintenance.ts')).runVersion,
  },
  migrate: {
    summary: 'bring the database up to date',
    options: { check: { description: 'only say what would be done, and which tables it would lock' } },
    notes: ['Every other command that opens the database and may change it does this first.'],
    examples: ['migrate', 'migrate --check'],
    load: async () => (await import('../maintenance.ts')).runMigrate,
  },
  backup: {
    summary: 'copy the database as one consistent snapshot, while the service runs',
    argumentsText: '<file>',
    notes: [
      'The file must not exist yet. It holds password hashes, so only its owner may read it. The database may be of' +
        ' any version.',
    ],
    examples: ['backup /var/backups/countersign.db'],
    load: async () => (await import('../maintenance.ts')).runBackup,
  },
  restore: {
    summary: 'replace the database by a backup (SQLite)',
    argumentsText: '<file>',
    options: { era: eraOption },
    notes: [
      'Stop the service first. The backup must be one that this version serves (`version --check`). It is checked, and then replaces the database by' +
        ' one rename, so a killed command leaves one or the other. The former database stays in the same folder.',
      'The log begins its next era: later checkpoints have another origin, and readers of the live list start over.',
    ],
    examples: ['restore /var/backups/countersign.db'],
    load: async () => (await import('../maintenance.ts')).runRestore,
  },
  seed: {
    summary: 'add invented orders, for trials and measurements',
    argumentsText: '--orders N',
    options: {
      orders: { value: 'N', description: 'how many' },
      days: { value: 'DAYS', description: 'spread their creation over this many days; default 365' },
      yes: { description: 'also if the database has accounts other than the demo accounts' },
    },
    notes: [
      'Orders are added a thousand at a time. An interrupted run leaves some of them; the next run adds its' +
        ' full number again. Every run makes the same orders, relative to the current time. Their createdBy starts with' +
        ' seed:, unlike any account name, so the filter createdBy=seed:* finds exactly these.',
    ],
    examples: ['seed --orders 1000000 --dev', 'seed --orders 250000 --days 90 --json'],
    load: async () => (await import('../maintenance.ts')).runSeed,
  },
  copy: {
    summary: 'copy a SQLite database to an empty PostgreSQL one, and verify it',
    argumentsText: '--from file:<path> --to postgres://...',
    options: {
      from: { value: 'ADDRESS', description: 'the SQLite database, file:PATH; it is not changed' },
      to: { value: 'ADDRESS', description: 'the PostgreSQL database, postgres://...; it must be empty' },
    },
    notes: [
      'Either everything is copied or nothing: the transaction commits only if the counts and contents of all tables,' +
        ' read back, match the source. The target is migrated first, and refused if it holds anything.',
      'Stop the service first. While the copy runs, nobody can write to the source (a running service answers writes' +
        ' with 503). Later writes to the source are not copied.',
      'The password of --to need not be on the command line: PGPASSWORD and ~/.pgpass work.',
    ],
    examples: ['copy --from file:./data/countersign.db --to postgres://countersign@db.internal/countersign'],
    load: async () => (await import('../maintenance.ts')).runCopy,
  },
}
