const minimumLength = 15
const maximumLength = 256
/** The highest score of 0 to 4: 10^10 guesses or more. */
const minimumScore = 4

/**
 * Words that are easy to guess here: the product's name, those of the demo accounts, and a famous example.
 */
const ownWords = [
  'countersign',
  'countersigndemoservicesecret',
  ...['demo', 'admin', 'operator', 'viewer', 'approver', 'service', 'secret'],
  'correcthorsebatterystaple',
]

/**
 * Returns the rule that a new password breaks, as the end of a sentence that begins with "the password", or
 * undefined. A password is judged by its length and by how soon it would be guessed, not by its composition
 * (NIST SP 800-63B §3.1.1.2). `names` are the user name and email of the account. Nothing is looked up
 * outside the process, and the returned text never contains the password.
 */
export async function newPasswordFault(
  password: string,
  names: readonly string[],
): Promise<string | undefined> {
  if (!password.isWellFormed()) return 'is not well-formed Unicode'
  if (/[\p{Cc}\p{Zl}\p{Zp}\uFEFF]/u.test(password)) return 'contains a control character or a line break'
  const { length } = [...password.normalize('NFC')]
  if (length < minimumLength) return `has fewer than ${minimumLength} characters`
  if (length > maximumLength) return `has more than ${maximumLength} characters`
  judging ??= loadJudge()
  const judge = await judging
  const known = [...ownWords, ...names, ...names.flatMap(nameParts)]
  // Judged again with its words joined, because lists of common passwords have them that way.
  const isStrong = (form: string) =>
    piecesOf(form).some((piece) => judge.check(piece, known).score >= minimumScore)
  return !isStrong(password) || !isStrong(joined(password))
    ? 'is common, or little more than common words, names, dates and sequences'
    : undefined
}

/** A password with a strong piece is strong. Judging 256 characters at once would take seconds. */
const pieceLength = 64

function piecesOf(text: string): string[] {
  const letters = [...text]
  const pieces = Math.max(1, Math.ceil(letters.length / pieceLength))
  return Array.from({ length: pieces }, (_, index) =>
    letters.slice(index * pieceLength, (index + 1) * pieceLength).join(''),
  )
}

let judging: ReturnType<typeof loadJudge> | undefined

/** The list of 49,000 common passwords takes a quarter of a second to load, so it waits until needed. */
async function loadJudge() {
  const { ZxcvbnFactory } = await import('@zxcvbn-ts/core')
  const { adjacencyGraphs, dictionary } = await import('@zxcvbn-ts/language-common')
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
}

/** The words of a name or email that have at least three letters, and all of them joined. */
function nameParts(name: string): string[] {
  const words = name.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  return [...words, joined(name.toLowerCase())].filter((word) => word.length >= 3)
}

function joined(text: string): string {
  return text.replaceAll(/[\s\p{P}]+/gu, '')
}
