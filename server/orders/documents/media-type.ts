const signatures: [type: string, at: number, bytes: string][] = [
  ['application/pdf', 0, '%PDF-'],
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/webp', 8, 'WEBP'],
]

const controls = /(?![\t\n\r])\p{Cc}/u

/** Tells the media type of bytes from the bytes alone, whatever their sender calls them. */
export class MediaType {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #known: string | undefined
  #isText = true
  #isBegun = false

  /** Takes the next piece; the first has at least 12 bytes unless it is all. */
  add(piece: Uint8Array): void {
    if (!this.#isBegun) {
      const head = Buffer.from(piece.subarray(0, 12)).toString('latin1')
      this.#known = signatures.find(([type, at, bytes]) => {
        return head.startsWith(bytes, at) && (type !== 'image/webp' || head.startsWith('RIFF'))
      })?.[0]
      this.#isBegun = true
    }
    if (this.#known === undefined && this.#isText) this.#isText = this.#isPlain(piece)
  }

  end(): string {
    if (this.#known !== undefined) return this.#known
    return this.#isText && this.#isPlain() ? 'text/plain' : 'application/octet-stream'
  }

  /** Whether it is UTF-8 without control characters other than tabs and line breaks. */
  #isPlain(piece?: Uint8Array): boolean {
    try {
      return !controls.test(this.#decoder.decode(piece, { stream: piece !== undefined }))
    } catch {
      return false
    }
  }
}
