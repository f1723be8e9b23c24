// engine: none
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { claimFile, faultOfPlace } from '../../server/db/sqlite/place.ts'

/** A line of /proc/self/mountinfo. */
const mount = (point: string, type: string) =>
  `36 35 98:0 / ${point} rw,noatime master:1 - ${type} /dev/sda1 rw,errors=continue\n`
const root = mount('/', 'overlay')

describe('the place of an SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-place-'))
  after(() => rmSync(folder, { recursive: true }))

  for (const [mounts, why] of [
    [root, 'a root of a container'],
    [root + mount('/data', 'ext4'), 'a volume'],
    [root + mount('/data', 'nfs4') + mount('/data', 'xfs'), 'what is mounted over a network'],
    [root + mount('/data', 'fuse.sshfs') + mount('/data/local', 'btrfs'), 'a local disk within another'],
    [root + mount('/dat', 'nfs'), 'next to a mount whose name begins alike'],
    ['', 'a system without mountinfo'],
  ] as const) {
    it(`is good: ${why}`, () => {
      assert.equal(faultOfPlace('/data/local/orders.db', mounts), undefined)
    })
  }

  it('is refused where the file is mounted without its folder, also behind a link or with a space', () => {
    const alone =
      /orders\.db is mounted without its folder, so the newest writes, .* mount its folder instead/
    assert.match(faultOfPlace('/data/orders.db', root + mount('/data/orders.db', 'ext4')) ?? '', alone)
    const spaced = mount('/data/my\\040orders.db', 'ext4')
    assert.match(faultOfPlace('/data/my orders.db', root + spaced) ?? '', alone)
    symlinkSync('/data', join(folder, 'link'))
    const linked = `${folder}/link/orders.db`
    symlinkSync(folder, join(folder, 'other'))
    const real = mount(join(folder, 'orders.db'), 'ext4')
    assert.match(faultOfPlace(join(folder, 'other', 'orders.db'), root + real) ?? '', alone)
    assert.equal(faultOfPlace(linked, root), undefined)
  })

  for (const type of ['nfs', 'nfs4', 'cifs', '9p', 'virtiofs', 'fuse', 'fuse.sshfs', 'fuseblk']) {
    it(`is refused on ${type}`, () => {
      const fault = faultOfPlace('/data/orders.db', root + mount('/data', type))
      assert.match(fault ?? '', new RegExp(`is on a file system of type ${type.replace('.', '\\.')}, where`))
    })
  }

  it('is where a link leads, also to a file that does not exist yet, and a circle of links ends', () => {
    symlinkSync('/remote/orders.db', join(folder, 'first.db'))
    symlinkSync('first.db', join(folder, 'second.db'))
    const fault = faultOfPlace(join(folder, 'second.db'), root + mount('/remote', 'nfs4'))
    assert.match(fault ?? '', /is on a file system of type nfs4/)
    symlinkSync('circle.db', join(folder, 'circle.db'))
    assert.equal(faultOfPlace(join(folder, 'circle.db'), root), undefined)
  })

  it('belongs to one service, by whatever links, also while it does not exist yet', () => {
    symlinkSync(join(folder, 'new.db'), join(folder, 'link.db'))
    mkdirSync(join(folder, 'far', 'away'), { recursive: true })
    symlinkSync(join(folder, 'far', 'away'), join(folder, 'near'))
    const release = claimFile(join(folder, 'link.db'))
    for (const path of ['link.db', 'new.db', 'near/../../new.db']) {
      assert.throws(() => claimFile(`${folder}/${path}`, 0), /another service has .*\.db open/)
    }
    release()
    claimFile(join(folder, 'new.db'))()
  })
})
