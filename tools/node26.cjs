'use strict'

// Runs one of this project's scripts on Node 26, whatever Node npm uses: in this process if it is new enough, else on
// the Node of the optional dependency for this platform. (npm 11 also puts that Node on the PATH of scripts; npm 10
// removes the link, because the packages of the other platforms have the same name.)
const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { join, resolve } = require('node:path')
const { pathToFileURL } = require('node:url')

// Node keeps stripped and compiled modules there, which saves half of the processor time of a start.
process.env.NODE_COMPILE_CACHE ??= join(__dirname, '..', 'node_modules', '.cache', 'compile')

const neededMajor = 26
const [file, ...args] = process.argv.slice(2)

if (Number(process.versions.node.split('.')[0]) >= neededMajor) {
  process.argv = [process.argv[0], resolve(file), ...args]
  enableCompileCache()
  import(pathToFileURL(resolve(file)).href)
} else {
  runOn(findNode())
}

function findNode() {
  const system = process.platform === 'win32' ? 'win' : process.platform
  const executable = process.platform === 'win32' ? 'node.exe' : 'node'
  const names = [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`]
  const found = names
    .map((name) => join(__dirname, '..', 'node_modules', name, 'bin', executable))
    .find((path) => existsSync(path))
  if (found !== undefined) return found
  process.stderr.write(
    `Node ${neededMajor} or newer is needed, and there is no package of it for ${system}-${process.arch}: ` +
      'install it from nodejs.org, or run npm ci without --omit.\n',
  )
  process.exit(1)
}

function runOn(node) {
  const child = spawn(node, [file, ...args], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? code : 1
  })
}
