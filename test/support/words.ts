/** Reasons and notes that a person may write, and the text that is stored. */
export const goodWords: [what: string, sent: string, kept: string][] = [
  ['one letter', 'x', 'x'],
  ['white space at its ends', ' \t\n Twice. \r\n', 'Twice.'],
  ['a letter and its accent apart', 'cafe\u0301', 'café'],
  ['line breaks of every kind', 'a\nb\r\nc\n\nd', 'a\nb\r\nc\n\nd'],
  ['1,000 characters', 'ß'.repeat(1_000), 'ß'.repeat(1_000)],
  ['1,000 emoji', '\u{1f600}'.repeat(1_000), '\u{1f600}'.repeat(1_000)],
  ['what other programs take for their own', `=1+1 '"; -- <b> \\N $1 %s`, `=1+1 '"; -- <b> \\N $1 %s`],
  ['two directions', 'שלום and hello', 'שלום and hello'],
  ['line separators', 'a\u2028b\u2029c', 'a\u2028b\u2029c'],
]

/** As JSON, because some are not strings and others are not valid Unicode. */
export const badWords: [what: string, json: string, code: string][] = [
  ['nothing', '""', 'length'],
  ['white space', '" \\n\\t\\u3000"', 'length'],
  ['1,001 characters', JSON.stringify('x'.repeat(1_001)), 'length'],
  ['1,001 emoji', JSON.stringify('\u{1f600}'.repeat(1_001)), 'length'],
  ['NUL', '"a\\u0000b"', 'characters'],
  ['a bell', '"a\\u0007b"', 'characters'],
  ['a tab between words', '"a\\tb"', 'characters'],
  ['a line break of EBCDIC', '"a\\u0085b"', 'characters'],
  ['an override of direction', '"a\\u202eb"', 'characters'],
  ['an isolate', '"a\\u2066b"', 'characters'],
  ['a mark of direction', '"a\\u200fb"', 'characters'],
  ['what cannot be seen', '"\\u200b\\u2800"', 'characters'],
  ['half an emoji', '"a\\ud83d"', 'encoding'],
  ['its other half', '"\\ude00 a"', 'encoding'],
  ['null', 'null', 'type'],
  ['a number', '7', 'type'],
  ['true', 'true', 'type'],
  ['a list', '["a"]', 'type'],
  ['an object', '{"toString":"a"}', 'type'],
]
