import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * `npm run components [FOLDER]`: the component list of a release (CycloneDX 1.6), from the lock file alone,
 * next to which or in FOLDER it is written. It lists all components; those marked
 * `cdx:npm:package:development` build and test, or are in the web app as built. (`npm sbom` leaves out, now
 * and then, a package that production and development both use.)
 */
interface Locked {
  version?: string
  integrity?: string
  license?: string
  dev?: boolean
  devOptional?: boolean
  link?: boolean
}

const root = fileURLToPath(new URL('..', import.meta.url))
const { name, version, packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))

const purlOf = (of: string, at: string) => `pkg:npm/${of.replace('@', '%40')}@${at}`

function componentOf([path, locked]: [path: string, locked: Locked]) {
  const { version: at = '', integrity = '', license, dev, devOptional } = locked
  const of = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const [algorithm = '', hash = ''] = integrity.split('-')
  const alg = algorithm.replace('sha', 'SHA-')
  return {
    type: 'library',
    'bom-ref': `${path}@${at}`,
    name: of,
    version: at,
    purl: purlOf(of, at),
    ...(license ? { licenses: [{ expression: license }] } : {}),
    // npm knows none of packages for other platforms that it has not installed.
    ...(hash && { hashes: [{ alg, content: Buffer.from(hash, 'base64').toString('hex') }] }),
    ...(dev || devOptional ? { properties: [{ name: 'cdx:npm:package:development', value: 'true' }] } : {}),
  }
}

const components = Object.entries<Locked>(packages)
  .filter(([path, { link }]) => path.includes('node_modules/') && !link)
  .map(componentOf)
const list = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: { type: 'application', name, version, purl: purlOf(name, version) } },
  components,
}
const file = `${name}-${version}.cdx.json`
writeFileSync(join(process.argv[2] ?? root, file), `${JSON.stringify(list, null, 2)}\n`)
const shipped = components.filter(({ properties }) => properties === undefined).length
process.stdout.write(`${file}: ${components.length} components, ${shipped} of them of the server\n`)
