export const mediaTypes = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  text: 'text/plain',
  other: 'application/octet-stream',
} as const

/** How files begin, in hexadecimal. */
const signatures = {
  pdf: /^255044462d/,
  png: /^89504e470d0a1a0a/,
  jpeg: /^ffd8ff/,
  webp: /^52494646.{8}57454250/,
}
const signed = Object.keys(signatures) as (keyof typeof signatures)[]

const controls = /(?![\t\n\r])\p{Cc}/u

/** Tells the media type of bytes from the bytes alone, whatever their sender calls them. */
export class MediaType {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #known: keyof typeof signatures | undefined
  #isText = true
  #isBegun = false

  /** Takes the next piece; the first has at least 12 bytes unless it is all. */
  add(piece: Uint8Array): void {
    if (!this.#isBegun) {
      const head = Buffer.from(piece.subarray(0, 12)).toString('hex')
      this.#known = signed.find((name) => signatures[name].test(head))
      this.#isBegun = true
    }
    if (this.#known === undefined && this.#isText) this.#isText = this.#isPlain(piece)
  }

  end(): string {
    if (this.#known !== undefined) return mediaTypes[this.#known]
    return this.#isText && this.#isPlain() ? mediaTypes.text : mediaTypes.other
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
