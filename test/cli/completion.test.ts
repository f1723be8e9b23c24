import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { commands } from '../../server/cli/catalogue/catalogue.ts'
import { commandLine } from './command-line.ts'

/** A program for each shell. It prints what the script offers for its last argument. */
const shells = {
  bash: [
    'bash',
    `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _countersign; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  zsh: [
    'zsh',
    'compdef() {}; _files() {}; _describe() { print -l -- $candidates }; . "$0"; words=("$@"); CURRENT=$#; _countersign',
  ],
  fish: ['fish', 'source $argv[1]; complete -C (string join " " -- $argv[2..]) | string split -f1 \\t'],
} as const

const wanted: [line: string[], offered: string[]][] = [
  [['key', ''], ['generate']],
  [['us'], ['user']],
  [
    ['user', 'l'],
    ['link', 'list'],
  ],
  [['user', 'add', 'jo', '--t'], ['--time-zone']],
  [['serve', '--dev', '--no'], ['--no-demo-orders']],
  [['log', 'verify', '--che'], ['--checkpoint']],
]

describe('completion', () => {
  const cli = commandLine({ after })

  for (const [shell, [program, code]] of Object.entries(shells)) {
    it(`completes commands and options in ${shell}`, {
      skip: spawnSync(program, ['--version']).status !== 0 && `needs ${program}`,
    }, async () => {
      const script = join(cli.folder, shell)
      // fish offers the files of its folder as well.
      const empty = mkdtempSync(join(cli.folder, 'empty-'))
      writeFileSync(script, (await cli.run(`completion ${shell}`)).stdout)
      for (const [line, offered] of wanted) {
        const { stdout, stderr } = spawnSync(program, ['-c', code, script, 'countersign', ...line], {
          cwd: empty,
          encoding: 'utf8',
        })
        // zsh itself filters what it is offered.
        const words = stdout
          .split('\n')
          .map((word) => word.replace(/:.*/, ''))
          .filter((word) => word.startsWith(line.at(-1) ?? '') && word !== '')
        assert.deepEqual([words.sort(), stderr], [offered, ''], line.join(' '))
      }
    })

    it(`knows every command in ${shell}`, async () => {
      const { stdout } = await cli.run(`completion ${shell}`)
      for (const name of commands.keys())
        assert.ok(stdout.includes(`'${name}'`) || stdout.includes(`${name} `), name)
    })
  }

  it('is for three shells', async () => {
    const { status, stderr } = await cli.run('completion csh')
    assert.equal(status, 2)
    assert.match(stderr, /^countersign: completion: the shell is bash, zsh, fish /)
  })
})
