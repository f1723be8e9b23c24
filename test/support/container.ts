import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** False, or what this machine lacks to build and run the image of the Containerfile. */
export function withoutContainers(): string | false {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'needs Linux on x64'
  if (process.getuid?.() !== 0) return 'needs root'
  const missing = ['buildah', 'unshare', 'setpriv', 'ldd', 'dpkg', 'npm'].filter(
    (program) => spawnSync('which', [program]).status !== 0,
  )
  return missing.length > 0 && `needs ${missing.join(', ')}`
}

/** The process that the image starts. */
interface ImageConfig {
  User: string
  Env: string[]
  Entrypoint: string[]
  Cmd: string[]
  WorkingDir: string
}

export interface Image {
  config: ImageConfig
  /** The files of the image, as a folder of this machine. */
  files: string
  remove(): void
}

/**
 * Builds the image of the Containerfile. Files of this machine (Debian's, Node and npm) stand in for the two
 * images that it begins with, so no registry of images is asked.
 */
export function buildImage(): Image {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-image-'))
  const places = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')]
  const buildah = (...args: string[]) =>
    execFileSync('buildah', [...places, ...args], { cwd: root, encoding: 'utf8' }).trim()
  const remove = () => {
    spawnSync('buildah', [...places, 'rm', '--all'])
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const bases = readFileSync(join(root, 'Containerfile'), 'utf8').matchAll(/^FROM (\S+)(?: AS \w+)?$/gm)
    const [[, toBuild = ''] = [], [, toRun = ''] = []] = [...bases]
    for (const [name, make] of [
      [toBuild, makeBuildBase],
      [toRun, makeRunBase],
    ] as const) {
      const files = join(folder, 'base')
      make(files)
      const container = buildah('from', 'scratch')
      buildah('copy', container, files, '/')
      buildah('commit', container, name)
      rmSync(files, { recursive: true })
    }
    const how = `--isolation chroot --pull=never --volume ${settingOfNpm('cache')}:/root/.npm`.split(' ')
    buildah('build', ...how, '--tag', 'countersign', '--file', 'Containerfile', '.')
    const config = JSON.parse(buildah('inspect', '--type', 'image', 'countersign')).OCIv1.config
    return { config, files: buildah('mount', buildah('from', '--pull=never', 'countersign')), remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** Node with the libraries that it needs, an account without rights, and no shell. */
function makeRunBase(files: string): void {
  addProgram(files, process.execPath, '/nodejs/bin/node')
  write(files, '/etc/passwd', 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n')
  for (const name of ['data', 'dev', 'keys', 'proc', 'tmp']) mkdirSync(join(files, name))
}

/** Node, npm with its settings, and the programs that the build calls. */
function makeBuildBase(files: string): void {
  addProgram(files, process.execPath, '/usr/local/bin/node')
  for (const name of ['sh', 'tar', 'gzip', 'mkdir', 'env'])
    addProgram(files, pathOf(name), `/usr/bin/${name}`)
  symlinkSync('usr/bin', join(files, 'bin'))
  const npm = join(realpathSync(pathOf('npm')), '../..')
  cpSync(npm, join(files, '/usr/local/lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(files, '/usr/local/bin/npm'))
  const authorities = '/etc/ssl/certs/ca-certificates.crt'
  if (existsSync(authorities)) copy(files, authorities)
  const registry = settingOfNpm('registry')
  const settings = [`registry=${registry}`, `cafile=${authorities}`, 'prefer-offline=true']
  write(files, '/usr/local/etc/npmrc', settings.join('\n'))
}

function settingOfNpm(name: string): string {
  return execFileSync('npm', ['config', 'get', name], { cwd: '/', encoding: 'utf8' }).trim()
}

function pathOf(program: string): string {
  return execFileSync('which', [program], { encoding: 'utf8' }).trim()
}

function addProgram(files: string, program: string, path: string): void {
  copy(files, program, path)
  const linked = execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+/g) ?? []
  const ofLibrary =
    execFileSync('dpkg', ['-L', 'libc6'], { encoding: 'utf8' }).match(/^\S+\.so\.\d+$/gm) ?? []
  for (const library of [...linked, ...ofLibrary]) copy(files, library)
}

function copy(files: string, from: string, to = from): void {
  mkdirSync(dirname(join(files, to)), { recursive: true })
  copyFileSync(from, join(files, to))
}

function write(files: string, path: string, text: string): void {
  mkdirSync(dirname(join(files, path)), { recursive: true })
  writeFileSync(join(files, path), text)
}

interface ContainerOptions {
  folders: Record<string, string>
  env: Record<string, string>
  args?: string[]
  /** Its standard input. */
  input?: string
}

export interface Container {
  /** Everything it has printed so far. */
  output(): string
  /** Resolves to its exit status. */
  ended: Promise<number | null>
  signal(name: NodeJS.Signals): void
}

/**
 * Starts a process of the image: the first process of a container, with the account of the image and a root
 * that nobody can write to. `folders` of this machine are mounted at their names, and `args` replace `Cmd`.
 */
export function startContainer({ config, files }: Image, options: ContainerOptions): Container {
  const { folders, env, args = config.Cmd, input = '' } = options
  const [user, group] = config.User.split(':')
  const script = [
    'set -e',
    'mount --bind "$1" "$1"',
    'mount -t proc proc "$1/proc"',
    ...Object.entries(folders).map(([name, folder]) => `mount --bind '${folder}' "$1/${name}"`),
    'mount -o remount,bind,ro "$1"',
    'root=$1; shift',
    `exec setpriv --no-new-privs chroot --userspec=${user}:${group} --groups=${group} "$root" "$@"`,
  ]
  // chroot leaves the process at /, so the image's Node changes to the folder and becomes the entry point.
  const enter = `process.chdir('${config.WorkingDir}'); process.execve(process.argv[1], process.argv.slice(1))`
  const command = [config.Entrypoint[0] ?? '', '-e', enter, '--', ...config.Entrypoint, ...args]
  const child = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script.join('\n'), 'sh', files, ...command],
    { env: { ...Object.fromEntries(config.Env.map((line) => line.split(/=(.*)/s))), ...env } },
  )
  child.stdin.end(input)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part) => {
      output += part
    })
  }
  return {
    output: () => output,
    ended: once(child, 'close').then(([status]) => status),
    signal(name) {
      const first = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
      process.kill(Number(first), name)
    },
  }
}
