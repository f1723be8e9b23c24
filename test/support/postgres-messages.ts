/**
 * AuthenticationOk and ReadyForQuery, for a server that a test plays:
 * https://www.postgresql.org/docs/18/protocol-message-formats.html
 */
export const welcome = Buffer.concat([message('R', int32(0)), message('Z', Buffer.from('I'))])

/** The answer to `show server_version_num`. */
export function versionAnswer(version: string): Buffer {
  const column = [
    Buffer.from('server_version_num\0'),
    int32(0),
    int16(0),
    int32(25),
    int16(-1),
    int32(-1),
    int16(0),
  ]
  return Buffer.concat([
    message('T', Buffer.concat([int16(1), ...column])),
    message('D', Buffer.concat([int16(1), int32(version.length), Buffer.from(version)])),
    message('C', Buffer.from('SHOW\0')),
    message('Z', Buffer.from('I')),
  ])
}

function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
