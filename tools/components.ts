import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * `npm run components`: the component list of a release (CycloneDX), from the lock file alone, next to which
 * it is written. It lists all components; those marked `cdx:npm:package:development` build and test, or are
 * in the web app as built.
 */
const root = new URL('..', import.meta.url)
const { name, version, dependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))

interface Component {
  name: string
  version: string
  hashes?: unknown[]
  properties?: { name: string; value: string }[]
}

const options = '--workspaces=false --package-lock-only --sbom-format cyclonedx'.split(' ')
const text = execFileSync('npm', ['sbom', ...options], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
})
const list = JSON.parse(text)
// npm names the component after the folder.
list.metadata.component.name = name

/** npm may leave out a package that production and development both use, or mark it as development. */
const components: Component[] = list.components
const isDevelopment = ({ properties = [] }: Component) =>
  properties.some((property) => property.name === 'cdx:npm:package:development' && property.value === 'true')
for (const [wanted, wantedVersion] of Object.entries(dependencies)) {
  const found = components.find(
    (component) => component.name === wanted && component.version === wantedVersion,
  )
  const fault =
    found === undefined ? 'left out' : isDevelopment(found) ? 'marked as development' : 'without a hash'
  if (found === undefined || isDevelopment(found) || found.hashes === undefined) {
    throw new Error(`${wanted} ${wantedVersion} is ${fault} in what npm lists`)
  }
}

const file = `${name}-${version}.cdx.json`
const target = process.argv[2] ?? fileURLToPath(root)
writeFileSync(join(target, file), `${JSON.stringify(list, null, 2)}\n`)
const shipped = components.filter((component) => !isDevelopment(component)).length
process.stdout.write(`${file}: ${components.length} components, ${shipped} of them of the server\n`)
