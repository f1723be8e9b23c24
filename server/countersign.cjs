#!/usr/bin/env node
'use strict'

// What is installed as `countersign`: in the package JavaScript, in the repository the sources, which only Node 26 runs
// without a warning. An older Node would say so with a stack trace only.
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const isPackage = existsSync(join(__dirname, 'main.js'))
const needed = isPackage ? [24, 6] : [26, 0]
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > needed[0] || (major === needed[0] && minor >= needed[1])) {
  import(isPackage ? './main.js' : './main.ts')
} else {
  process.stderr.write(
    `countersign: Node ${needed.join('.')} or newer is needed; this is ${process.versions.node} (${process.execPath})\n`,
  )
  process.exitCode = 1
}
