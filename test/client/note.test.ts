// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  cosignature,
  cosignedMessage,
  readCheckpoint,
  readNote,
  readProof,
  readVerifierKey,
  spellCheckpoint,
  spellNote,
  spellProof,
  spellVerifierKey,
  verifyCosignature,
  verifyNote,
} from '../../proof/note.ts'
import { cosignatureBy, newSigner, signatureBy } from '../../witness/test/signed-log.ts'
import { forAll } from '../support/for-all.ts'

/** The example of signed-note. */
const example = {
  key: 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
  note: 'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
}

/** The keys and the note in the tests of golang.org/x/mod/sumdb/note. */
const peter = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const enoch = 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop'
const answer = `If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=
`

/** A checkpoint of Certificate Transparency, with two signatures by the log and four by its witnesses. */
const arche = `arche2025h1.staging.ct.transparency.dev
1432088532
U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=

— arche2025h1.staging.ct.transparency.dev zTM8sQAAAZ5W0WdjBAMARjBEAiBjW5IQf9pvsYLfQFX6hoGREPMHbdQ3urbllzalApkptQIgIpwtEroeW2BXaHAI4kJXFbon5Ch9MNL5zRNZ55lvGt0=
— arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=
— transparency.dev/DEV:witness-little-garden 2AQqhwAAAABqEiEgzgFIqqhbUoDwjMWE6UP8nd8/KYTzwZ2rhIgcqoXHAwVkjZr4AscylP3v7sEodkRAErumC2q44vdgJY096st5BQ==
— witness1.smartit.nu/witness1 pIyCDwAAAABqEiEghIp82KWebrw7/oHQwlTAm3g2RKS4+eebl8eO0WH+/iEcxZ75W3u5hNI7TOQtmJbqmNWVuE0tgh0XwzdZsDsUAQ==
— remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5XeU/zZ0WBxtqB0DrAWfBw==
— witness.stagemole.eu Z/euoAAAAABqEiEgw0i+7g2ENfDAWHmtRzCfKTHSDwYDJA2NmKeGi9Y8FtEyOUvVr+AJmIY/2TUFucgKi7lI7cUiOvKFYe/TmN9DAg==
`
const archeKey =
  'arche2025h1.staging.ct.transparency.dev+ba2f06c0+AU0vHmlGCS/PdN8b2OaGmKprLI8HKM+dJ472xgFYh15f'
const remoraKey = 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2'
const smartitKey = 'witness1.smartit.nu/witness1+a48c820f+BPSFWg9G6KPiO7QPryYO5Xq4oYJJ+kAvLKLSimDhoxMO'
const cosignedSeconds = 0x6a122120

/** The example of tlog-proof, whose signatures are not shown there. */
const proof = `c2sp.org/tlog-proof@v1
extra YWdlLXYxLjIuMS1kYXJ3aW4tYXJt
index 73894
gSKyXoYZUgZ6jduWYrkDOARinOMGJveXjgMkBTcdPlQ=
B95lDa8R83lS8n0eG+o0buTxRKQTYFi//1U8anccXmA=

example.com/fancylog
109482
sFodV/vSp5O8n9a8QpW6PRY97tfOSW5bsc2Xl/EQi08=

— example.com/fancylog hI2DJwAA
`

const hash = Uint8Array.from({ length: 32 }, (_, index) => index)
const base64 = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='

describe('the key by which others verify', () => {
  it('is read from published texts and spelled as it was', async () => {
    for (const text of [example.key, peter, enoch, archeKey, remoraKey, smartitKey]) {
      assert.equal(spellVerifierKey(await readVerifierKey(text)), text)
    }
    const { name, id, type, publicKey } = await readVerifierKey(remoraKey)
    assert.deepEqual([name, id, type, publicKey.length], ['remora.n621.de', 'da77ade7', 'cosignature/v1', 32])
    assert.equal((await readVerifierKey(archeKey)).type, 'ed25519')
  })

  it('is refused in any other spelling', async () => {
    const [, , key = ''] = peter.split('+')
    const refused: [string, RegExp][] = [
      ['', /must be spelled NAME\+ID\+KEY/],
      ['PeterNeumann+c74f20a3', /must be spelled NAME\+ID\+KEY/],
      [peter.replace('c74f20a3', 'C74F20A3'), /the id of the key must be c74f20a3/],
      [peter.replace('c74f20a3', 'c74f20a4'), /the id of the key must be c74f20a3/],
      [peter.replace('c74f20a3', ''), /the id of the key must be c74f20a3/],
      [peter.replace('Peter', ''), /the id of the key must be/],
      [`+c74f20a3+${key}`, /the name of a key must not be empty/],
      [peter.replace('Neumann', ' Neumann'), /nor have white space/],
      [peter.replace('Neumann', '\u00a0Neumann'), /nor have white space/],
      [peter.replace('Neumann', '\u0085Neumann'), /nor have white space/],
      [peter.replace('Neumann', '\0Neumann'), /control characters/],
      [peter.replace('Neumann', '\ud800Neumann'), /nor have white space/],
      [`${peter}=`, /the key must be base64/],
      [`${peter}\n`, /the key must be base64/],
      [peter.slice(0, -1), /the key must be base64/],
      ['PeterNeumann+c74f20a3+', /the key must be base64/],
      [peter.slice(0, -4), /the public key must have 32 bytes/],
      [`${peter}AAAA`, /the public key must have 32 bytes/],
      [peter.replace('+ARpc', '+Ahpc'), /must be of type 1 \(Ed25519\), 4 .* and is of type 2/],
      [peter.replace('+ARpc', '+BBpc'), /the id of the key must be/],
    ]
    for (const [text, message] of refused) await assert.rejects(readVerifierKey(text), { message }, text)
  })
})

describe('a signed note', () => {
  it('is verified by the keys of published notes', async () => {
    for (const [note, key] of [
      [example.note, example.key],
      [answer, peter],
      [answer, enoch],
      [arche, archeKey],
    ] as const) {
      assert.equal(await verifyNote(readNote(note), [await readVerifierKey(key)]), true)
    }
    assert.equal(await verifyNote(readNote(example.note), [await readVerifierKey(peter)]), false)
  })

  it('has the text up to the last empty line', () => {
    const note = readNote(`A text\n\nwith parts\n\n\n${answer.split('\n\n')[1]}`)
    assert.equal(note.text, 'A text\n\nwith parts\n\n')
    assert.deepEqual(
      note.signatures.map(({ name, id, signature }) => [name, id, signature.length]),
      [
        ['PeterNeumann', 'c74f20a3', 64],
        ['EnochRoot', 'af0cfe78', 64],
      ],
    )
  })

  it('is not verified with one character changed', async () => {
    const key = await readVerifierKey(peter)
    const signed = answer.slice(0, answer.indexOf('— EnochRoot'))
    for (let at = 0; at < signed.length; at += 1) {
      const changed = `${signed.slice(0, at)}${signed[at] === 'x' ? 'y' : 'x'}${signed.slice(at + 1)}`
      let holds: boolean
      try {
        holds = await verifyNote(readNote(changed), [key])
      } catch {
        holds = false
      }
      assert.equal(holds, false, changed)
    }
  })

  it('is not verified if another signature of the same key does not hold', async () => {
    const log = await newSigner('log.example', 'ed25519')
    const { key } = log
    const text = 'A text\n'
    const [good, bad] = [signatureBy(log, text), signatureBy(log, 'Another text\n')]
    assert.equal(await verifyNote({ text, signatures: [good] }, [key]), true)
    assert.equal(await verifyNote({ text, signatures: [good, good] }, [key]), true)
    assert.equal(await verifyNote({ text, signatures: [good, bad] }, [key]), false)
    assert.equal(await verifyNote({ text, signatures: [bad, good] }, [key]), false)
    assert.equal(await verifyNote({ text, signatures: [] }, [key]), false)
    const other = await newSigner('log.example', 'ed25519')
    const both = { text, signatures: [good, signatureBy(other, text)] }
    assert.equal(await verifyNote(both, [key, other.key]), true)
    assert.equal(await verifyNote({ text, signatures: [signatureBy(other, text)] }, [key, other.key]), true)
    assert.equal(
      await verifyNote({ text, signatures: [good, signatureBy(other, 'x\n')] }, [key, other.key]),
      false,
    )
    assert.equal(await verifyNote({ text, signatures: [good, signatureBy(other, 'x\n')] }, [key]), true)
    assert.equal(await verifyNote(both, []), false)
    assert.equal(await verifyNote({ text, signatures: [{ ...bad, id: '00000000' }, good] }, [key]), true)
    assert.equal(await verifyNote({ text, signatures: [{ ...good, name: 'other.example' }] }, [key]), false)
  })

  it('is spelled as it was read', () => {
    for (const note of [example.note, answer, arche]) assert.equal(spellNote(readNote(note)), note)
    const parts = ['— ', ' ', '\n', '\n\n', 'name', 'n+', 'AAAAAAA=', 'AAAAAAB=', 'AAAAAAAA', '\0']
    const lines = fc.array(fc.oneof(fc.constant('— name AAAAAAA=\n'), fc.constantFrom(...parts)))
    let read = 0
    forAll(2_000, lines, (drawn) => {
      const text = `text\n\n${drawn.join('')}`
      try {
        assert.equal(spellNote(readNote(text)), text)
        read += 1
      } catch (error) {
        assert.match((error as Error).message, /must/)
      }
    })
    assert.ok(read > 100)
  })

  it('is refused in any other form', () => {
    const signature = '— name AAAAAAA='
    const refused: [string, RegExp][] = [
      ['', /an empty line before its signatures/],
      ['text\n', /an empty line before its signatures/],
      ['text\n\n', /the signatures of a note must end with a line feed/],
      [`text\n\n${signature}`, /the signatures of a note must end with a line feed/],
      [`text\n\n${signature}\n\n`, /the signatures of a note must end with a line feed/],
      [`text\r\n\n${signature}\n`, /without control characters/],
      [`text\0\n\n${signature}\n`, /without control characters/],
      [`text\t\n\n${signature}\n`, /without control characters/],
      [`text\ud800\n\n${signature}\n`, /well-formed Unicode/],
      [`text\n\n${signature}\nmore\n`, /a signature must be spelled — NAME SIGNATURE/],
      [`text\n\n- name AAAAAAA=\n`, /a signature must be spelled/],
      [`text\n\n —name AAAAAAA=\n`, /a signature must be spelled/],
      [`text\n\n${signature} \n`, /a signature must be spelled/],
      [`text\n\n—  name AAAAAAA=\n`, /a signature must be spelled/],
      [`text\n\n—  AAAAAAA=\n`, /the name of a key must not be empty/],
      [`text\n\n— na+me AAAAAAA=\n`, /the name of a key must not/],
      [`text\n\n— na\u2003me AAAAAAA=\n`, /the name of a key must not/],
      [`text\n\n— name \n`, /a signature must be base64/],
      [`text\n\n— name AAAAAAB=\n`, /a signature must be base64/],
      [`text\n\n— name AAAAAAA\n`, /a signature must be base64/],
      [`text\n\n— name AAAA-AA=\n`, /a signature must be base64/],
      [`text\n\n— name AAAAAA==\n`, /a signature must have more than the 4 bytes/],
      [`text\n\n${`${signature}\n`.repeat(65)}`, /at most 64 signatures/],
      [`${'x'.repeat(2 ** 18)}\n\n${signature}\n`, /at most 262144 characters/],
    ]
    for (const [text, message] of refused) assert.throws(() => readNote(text), { message }, text.slice(0, 80))
    assert.equal(readNote(`text\n\n${`${signature}\n`.repeat(64)}`).signatures.length, 64)
    assert.equal(readNote(`Čaj 茶 \u{1f375}\u007f\n\n${signature}\n`).text, 'Čaj 茶 \u{1f375}\u007f\n')
  })
})

describe('a checkpoint', () => {
  it('is the text of a note', () => {
    const { origin, size, root } = readCheckpoint(readNote(arche).text)
    assert.deepEqual([origin, size], ['arche2025h1.staging.ct.transparency.dev', 1432088532])
    assert.equal(Buffer.from(root).toString('base64'), 'U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=')
    assert.equal(spellCheckpoint({ origin, size, root }), readNote(arche).text)
  })

  it('may be empty or have extension lines', () => {
    assert.equal(readCheckpoint(`name with spaces\n0\n${base64}\n`).size, 0)
    const read = { origin: 'o', size: 2 ** 53 - 1, root: hash }
    assert.deepEqual(readCheckpoint(`o\n9007199254740991\n${base64}\nmore\nlines\n`), read)
  })

  it('is refused in any other form', () => {
    const refused: [string, RegExp][] = [
      ['', /a checkpoint must end with a line feed/],
      [`o\n1\n${base64}`, /a checkpoint must end with a line feed/],
      ['o\n1\n', /a checkpoint must have three lines/],
      [`\n1\n${base64}\n`, /a line of a checkpoint must not be empty/],
      [`o\n1\n${base64}\n\n`, /a line of a checkpoint must not be empty/],
      [`o\n1\n${base64}\n\nx\n`, /a line of a checkpoint must not be empty/],
      ...['', '01', '-1', '+1', ' 1', '1 ', '1.0', '1e3', '0x1', '٣', '9007199254740992'].map(
        (size): [string, RegExp] => [
          `o\n${size}\n${base64}\n`,
          /the size must be a whole number below 2\^53/,
        ],
      ),
      ['o\n1\n\n', /the root must be base64/],
      [`o\n1\n${base64.slice(0, -1)}\n`, /the root must be base64/],
      [`o\n1\n${base64.replace('Hh8=', 'Hh9=')}\n`, /the root must be base64/],
      [`o\n1\n${base64} \n`, /the root must be base64/],
      ['o\n1\nAAAA\n', /the root must have 32 bytes/],
    ]
    for (const [text, message] of refused) assert.throws(() => readCheckpoint(text), { message }, text)
  })
})

describe('a cosignature', () => {
  it('is verified by the keys of published witnesses, and says when it was made', async () => {
    const note = readNote(arche)
    for (const key of [remoraKey, smartitKey]) {
      assert.equal(await verifyCosignature(note, await readVerifierKey(key)), cosignedSeconds)
    }
    assert.equal(await verifyCosignature(note, await readVerifierKey(archeKey)), undefined)
    assert.equal(await verifyNote(note, [await readVerifierKey(remoraKey)]), false)
    const witness = await newSigner('witness.example', 'cosignature/v1')
    const plain = { text: note.text, signatures: [signatureBy(witness, note.text)] }
    assert.equal(await verifyNote(plain, [witness.key]), false)
    const longer = { ...note, text: note.text.replace('1432088532', '1432088533') }
    assert.equal(await verifyCosignature(longer, await readVerifierKey(remoraKey)), undefined)
  })

  it('signs the message of the text', async () => {
    const message = `cosignature/v1
time 1679315147
example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
`
    const text = message.split('\n').slice(2).join('\n')
    const { key } = await newSigner('witness.example', 'cosignature/v1')
    assert.equal(Buffer.from(cosignedMessage(key, text, 1679315147)).toString(), message)
  })

  it('has a time that is signed too', async () => {
    const witness = await newSigner('witness.example', 'cosignature/v1')
    const { key } = witness
    const cosigns = (signed: string, seconds: number) => cosignatureBy(witness, signed, seconds)
    const text = `o\n1\n${base64}\n`
    const timeOf = (signatures: ReturnType<typeof cosigns>[]) => verifyCosignature({ text, signatures }, key)
    const made = cosigns(text, 1_800_000_000)
    assert.equal(await timeOf([made]), 1_800_000_000)
    const later = cosigns(text, 1_900_000_000)
    assert.deepEqual(
      [await timeOf([later, made]), await timeOf([made, later])],
      [1_800_000_000, 1_800_000_000],
    )
    const other = { ...made, signature: cosignature(1_800_000_001, made.signature.subarray(8)) }
    assert.equal(await timeOf([other]), undefined)
    assert.equal(await timeOf([made, other]), undefined)
    assert.equal(await timeOf([other, made]), undefined)
    assert.equal(await timeOf([cosigns(text, 0)]), undefined)
    assert.equal(await timeOf([cosigns(text, 2 ** 53)]), undefined)
    for (const length of [1, 7, 8, 64, 71]) {
      assert.equal(await timeOf([{ ...made, signature: made.signature.slice(0, length) }]), undefined)
    }
    assert.equal(await timeOf([]), undefined)
  })
})

describe('a proof', () => {
  it('is read and spelled as it was', () => {
    const { extra = new Uint8Array(), index, path, checkpoint } = readProof(proof)
    assert.equal(Buffer.from(extra).toString(), 'age-v1.2.1-darwin-arm')
    assert.deepEqual([index, path.length], [73894, 2])
    assert.equal(readCheckpoint(readNote(checkpoint).text).origin, 'example.com/fancylog')
    assert.equal(spellProof({ extra, index, path, checkpoint }), proof)
    const least = { extra: undefined, index: 0, path: [], checkpoint }
    assert.deepEqual(readProof(spellProof(least)), least)
    assert.equal(spellProof(least), `c2sp.org/tlog-proof@v1\nindex 0\n\n${checkpoint}`)
  })

  it('is refused in any other form', () => {
    const [head = ''] = proof.split('\n\n')
    const refused: [string, RegExp][] = [
      ['', /a proof must have an empty line before its checkpoint/],
      [head, /a proof must have an empty line before its checkpoint/],
      [proof.replace('@v1', '@v2'), /must begin with c2sp.org\/tlog-proof@v1/],
      [`\n${proof}`, /must begin with c2sp.org\/tlog-proof@v1/],
      [proof.replace('extra ', 'more '), /a proof must have an index/],
      [proof.replace(/extra .*\n/, 'extra \n'), /extra must be base64/],
      [proof.replace(/index .*\n/, ''), /a proof must have an index/],
      [proof.replace('index 7', 'index 07'), /the index must be a whole number/],
      [proof.replace('index ', 'index  '), /the index must be a whole number/],
      [proof.replace('gSKyXoYZ', 'AAAA\ngSKyXoYZ'), /a hash must have 32 bytes/],
      [proof.replace('dPlQ=', 'dPlR='), /a hash must be base64/],
      [`c2sp.org/tlog-proof@v1\nindex 1\n${`${base64}\n`.repeat(54)}\n`, /at most 53 hashes/],
      [`${proof}${'x'.repeat(2 ** 19)}`, /at most 524288 characters/],
    ]
    for (const [text, message] of refused) {
      assert.throws(() => readProof(text), { message }, text.slice(0, 200))
    }
  })
})
