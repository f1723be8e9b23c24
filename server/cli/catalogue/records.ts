import type { CommandSpec, OptionSpec } from '../command.ts'

export const eraOption: OptionSpec = {
  value: 'N',
  description:
    'the lowest number for the new era; needed if the log had eras that the database does not know',
}

export const policyCommands: Record<string, CommandSpec> = {
  'policy list': {
    changesNothing: true,
    summary: 'show how many approvals an order needs, and from whom',
    notes: ['The last row applies whose total the order reaches.'],
    examples: ['policy list', 'policy list --json'],
    load: async () => (await import('../policy.ts')).runListPolicy,
  },
  'policy set': {
    argumentsText: '<from>=<approvals>,[no-]self,[no-]services[,role:<name>][,passkey] ...',
    summary: 'replace the approval policy',
    notes: [
      'A row gives the number of approvals (1 to 5) for orders from a total up. Rows ascend and the first starts at 0.' +
        ' `self` lets the creator of an order approve it, `services` lets services approve it. Every row needs both' +
        ' words; `policy list` prints the current rows.',
      '`role:Finance` requires that at least one approver has the role Finance; `no-role` requires no role. `passkey`' +
        ' requires that each approval is signed with a passkey, which services cannot do; `no-passkey` does not. You may' +
        ' leave out the words about roles, or about passkeys, while no row of the policy uses them.',
      'The policy applies to orders created from now on. Pending orders keep the policy under which they were created.',
    ],
    examples: [
      'policy set 0=1,self,services 10000=2,no-self,no-services',
      'policy set 0=2,no-self,no-services,role:Finance',
    ],
    load: async () => (await import('../policy.ts')).runSetPolicy,
  },
}

const rewriteNote =
  'At the end a database in a file is rewritten, so that no file has it any more: that needs free space, and a running' +
  ' service writes nothing meanwhile. A database server needs its own command. Backups, archives and exports still have' +
  ' it. See “Forgetting people” in docs/operations.md.'

export const orderCommands: Record<string, CommandSpec> = {
  'order erase-document': {
    argumentsText: '<order> <document>',
    summary: 'erase the bytes of a document for good',
    notes: [
      'Its hash, its size and its name stay, and every page says that it was erased. The erasure is logged as an event.',
      rewriteNote,
    ],
    examples: [
      'order erase-document 019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57 019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a60',
    ],
    load: async () => (await import('../erase.ts')).runEraseDocument,
  },
}

export const erasureCommands: Record<string, CommandSpec> = {
  'person erase': {
    argumentsText: '<id>...',
    summary: 'erase who a user was, for good: accounts, orders and the log say person- and the id',
    notes: [
      'It disables the account, ends its sign-ins and absences, and takes its name, email, password, passkeys, views and' +
        ' waiting mail, and its names from every event. The log still verifies. Each person is one transaction and one event.',
      'What the person wrote, and what others wrote about them, stays: `log erase` takes single texts.',
      rewriteNote,
    ],
    examples: ['person erase 17', 'person erase 17 18 --json'],
    load: async () => (await import('../erase.ts')).runErasePerson,
  },
  'customer erase': {
    namesPeople: true,
    argumentsText: '<name>...',
    summary: 'erase the name of a customer, for good: orders and the log say customer- and a number',
    notes: [
      'It takes the name from all orders that have it, ignoring case, and from their events. The number is that of the' +
        ' oldest of them. Notes, documents and saved views that name the customer stay. Each customer is one transaction' +
        ' and one event.',
      rewriteNote,
    ],
    examples: ["customer erase 'Jane Doe'"],
    load: async () => (await import('../erase.ts')).runEraseCustomer,
  },
}

export const logCommands: Record<string, CommandSpec> = {
  'log verify': {
    changesNothing: true,
    summary: 'check every hash of the log, and compare it with checkpoints, receipts and orders',
    options: {
      export: { value: 'FILE', description: 'an export to check offline; without it, the database' },
      checkpoint: {
        value: 'FILE',
        list: true,
        description: 'a checkpoint that you kept, or lines of the service’s log with one; repeatable',
      },
      receipt: {
        value: 'FILE',
        list: true,
        description:
          'a receipt or a tlog-proof to check; with --export it is compared with the log too; repeatable',
      },
      document: {
        value: 'FILE',
        list: true,
        description: 'a file that must be a document of an approved order, whatever its name; repeatable',
      },
      orders: {
        value: 'FILE',
        description:
          'orders in JSON Lines to compare with their events; default without --export: those of the database',
      },
      'log-key': {
        value: 'KEY',
        list: true,
        description: 'a key that signed the checkpoints (`verifierKey` of /v1/log/key); repeatable',
      },
      witness: {
        value: 'KEY',
        list: true,
        description: 'the verifier key of a witness that cosigns the checkpoints; repeatable',
      },
      jwks: {
        value: 'FILE',
        list: true,
        description: 'file with the keys that sign receipts (/.well-known/jwks.json); repeatable',
      },
    },
    notes: [
      'The exit status is 1 if an event does not fit (the first is named), if a checkpoint disagrees or covers more' +
        ' than the log has, or if an order differs from its events. A file of orders must show all events up to the' +
        ' newest checkpoint. docs/auditing.md says what this proves, and what it does not.',
      'It is also 1 if a receipt is not valid or its key is missing, if no approval in it names a given document, and' +
        ' if none of the given witnesses cosigned a checkpoint, or the checkpoint of a receipt.',
    ],
    examples: [
      'log verify',
      'log verify --export log.jsonl --checkpoint june.txt --checkpoint july.txt --log-key orders.example.com/log+a9378340+ASbIqvyqMfh3BpEGMxmMW9XzRTnKpBCNxYUPfWT5ZSg0',
      'log verify --receipt receipt.jwt --jwks jwks.json',
      'log verify --receipt receipt.jwt --document offer.pdf --log-key orders.example.com/log+a9378340+ASbIqvyqMfh3BpEGMxmMW9XzRTnKpBCNxYUPfWT5ZSg0',
    ],
    load: async () => (await import('../verify/verify.ts')).runVerifyLog,
  },
  'log export': {
    changesNothing: true,
    argumentsText: '[<file>]',
    summary: 'write the whole log, one event a line (JSON Lines)',
    notes: [
      'Without a file, or with -, it goes to standard output. The file must not exist yet; only its owner may read it.',
    ],
    examples: ['log export log.jsonl', 'log export | gzip > log.jsonl.gz'],
    load: async () => (await import('../log.ts')).runExportLog,
  },
  'log checkpoint': {
    changesNothing: true,
    summary: 'sign and print how far the log goes',
    notes: [
      'It needs the service’s settings LOG_KEY_FILES and PUBLIC_URL. Keep the output where those who operate the' +
        ' service cannot change it.',
    ],
    examples: ['log checkpoint', 'log checkpoint | mail -s checkpoint auditor@example.org'],
    load: async () => (await import('../log.ts')).runLogCheckpoint,
  },
  'log restored': {
    summary: 'begin the next era of the log after its database went back in time',
    options: {
      era: eraOption,
      export: {
        value: 'FILE',
        description: 'an export that you kept: prints how to erase again what the database has back',
      },
    },
    notes: [
      'Run it before the service starts, after a recovery to an earlier time or a failover that lost commits.' +
        ' `restore` includes it. The event log-restored names the last event that is left.',
    ],
    examples: ['log restored', 'log restored --era 3 --export log.jsonl'],
    load: async () => (await import('../maintenance.ts')).runLogRestored,
  },
  'log erase': {
    argumentsText: '<sequence> <name>',
    summary: 'erase a text of an event (a reason or a note), or a name in it, for good',
    notes: [
      'The name is one of `clear` in the export, such as text or by. The event stays, with the hash of what is erased, so the log still verifies. The erasure is logged as an event.',
      rewriteNote,
    ],
    examples: ['log erase 1043 text', 'log erase 7 by'],
    load: async () => (await import('../erase.ts')).runEraseLine,
  },
}
