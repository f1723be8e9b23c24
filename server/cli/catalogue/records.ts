import type { CommandSpec, OptionSpec } from '../command.ts'

export const eraOption: OptionSpec = {
  value: 'N',
  description:
    'begin no earlier era than this; needed if the log had eras that the database does not know of',
}

export const policyCommands: Record<string, CommandSpec> = {
  'policy list': {
    changesNothing: true,
    summary: 'show how many approvals an order needs, and from whom',
    notes: ['The last row whose total the order reaches applies.'],
    examples: ['policy list', 'policy list --json'],
    load: async () => (await import('../policy.ts')).runListPolicy,
  },
  'policy set': {
    argumentsText: '<from>=<approvals>,[no-]self,[no-]services[,role:<name>][,passkey] ...',
    summary: 'replace the approval policy',
    notes: [
      'A row gives the number of approvals (1 to 5) for orders from a total up. Rows ascend and the first starts at 0.' +
        ' `self` lets the creator of an order approve it, `services` lets services approve it. Every row says both;' +
        ' `policy list` prints the current rows.',
      '`role:Finance` asks that at least one of the approvers has the role Finance, `no-role` asks for none. It may' +
        ' be left out while no row of the policy has a role. In the same way, `passkey` asks that each approval is' +
        ' signed with a passkey, which services cannot do, and `no-passkey` does not.',
      'The policy applies to orders created from now on. Pending orders keep the policy under which they were created.',
    ],
    examples: [
      'policy set 0=1,self,services 10000=2,no-self,no-services',
      'policy set 0=2,no-self,no-services,role:Finance',
    ],
    load: async () => (await import('../policy.ts')).runSetPolicy,
  },
}

export const logCommands: Record<string, CommandSpec> = {
  'log verify': {
    changesNothing: true,
    summary: 'check every hash of the log, and that it agrees with checkpoints, receipts and orders',
    options: {
      export: { value: 'FILE', description: 'an export to check offline; without it, the database' },
      checkpoint: {
        value: 'FILE',
        list: true,
        description: 'a kept checkpoint, or lines of the service’s log that have one; repeatable',
      },
      receipt: {
        value: 'FILE',
        list: true,
        description:
          'a receipt, or a tlog-proof, to check alone or, with --export, against the log too; repeatable',
      },
      orders: {
        value: 'FILE',
        description:
          'orders in JSON Lines to compare with their events; without --export, those of the database',
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
        description: 'the keys that sign receipts (/.well-known/jwks.json), as a file; repeatable',
      },
    },
    notes: [
      'The exit status is 1 when an event does not fit (one line names the first), when a checkpoint disagrees or' +
        ' covers more than the log holds, or when an order differs from its events. Events up to the newest checkpoint' +
        ' must show in a file of orders. docs/auditing.md says what all this proves, and what it does not.',
      'It is 1 too when a receipt does not hold, when the key for it is missing, and when witnesses are given but none' +
        ' of them cosigned a checkpoint, or that of a receipt.',
    ],
    examples: [
      'log verify',
      'log verify --export log.jsonl --checkpoint june.txt,july.txt --log-key orders.example.com/log+a9378340+ASbIqvyqMfh3BpEGMxmMW9XzRTnKpBCNxYUPfWT5ZSg0',
      'log verify --receipt receipt.jwt --jwks jwks.json',
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
    summary: 'print a signed statement of how far the log goes',
    notes: [
      'It needs the settings LOG_KEY_FILES and PUBLIC_URL of the service. Keep what it prints out of reach of' +
        ' those who operate the service.',
    ],
    examples: ['log checkpoint', 'log checkpoint | mail -s checkpoint auditor@example.org'],
    load: async () => (await import('../log.ts')).runLogCheckpoint,
  },
  'log restored': {
    summary: 'begin the next era of the log, after its database has gone back',
    options: { era: eraOption },
    notes: [
      'Run it after a recovery to an earlier time, or after a failover that lost commits, before the service starts.' +
        ' `restore` does it by itself. The event log-restored names the last event that is left.',
    ],
    examples: ['log restored', 'log restored --era 3'],
    load: async () => (await import('../maintenance.ts')).runLogRestored,
  },
  'log erase-text': {
    argumentsText: '<sequence>',
    summary: 'erase the text of an event (a reason or a note) for good',
    notes: [
      'The event stays, with the hash of its text, so the log still verifies. The erasure is logged as an event.',
    ],
    examples: ['log erase-text 1043'],
    load: async () => (await import('../log.ts')).runEraseText,
  },
}
