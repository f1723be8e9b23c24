#!/usr/bin/env node
'use strict'

// What is installed as `countersign`: in the package JavaScript, in the repository the sources, which only Node 26 runs
// without a warning. An older Node would say so with a stack trace only.
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const isPackage = existsSync(join(__dirname, 'main.js'))
const needed = isPackage ? '24.6' : '26'
const [neededMajor, neededMinor = 0] = needed.split('.').map(Number)
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) {
  import(isPackage ? './main.js' : './main.ts')
} else {
  process.stderr.write(
    `countersign: Node ${needed} or newer is needed; this is ${process.versions.node} (${process.execPath})\n`,
  )
  process.exitCode = 1
}
