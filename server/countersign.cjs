#!/usr/bin/env node
'use strict'

// What is installed as `countersign`. Node before 22 cannot read main.ts, and says so with a stack trace only.
const neededMajor = 26
if (Number(process.versions.node.split('.')[0]) >= neededMajor) {
  import('./main.ts')
} else {
  process.stderr.write(
    `countersign: Node ${neededMajor} or newer is needed; this is ${process.versions.node} (${process.execPath})\n`,
  )
  process.exitCode = 1
}
