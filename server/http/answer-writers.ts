import build from 'fast-json-stringify'

/**
 * For Fastify's `setSerializerCompiler`: writes an answer by its schema, and nothing that the schema does not
 * declare. Each schema is compiled for its first answer: compiling all at once would take a thirteenth of the
 * start-up time (ADR 25). test/contract/answers makes every answer, so it would find a schema that cannot be
 * compiled. It is in a separate file because no thread and no command needs the hundred modules of its
 * package.
 */
export function compileWriter({ schema }: { schema: object }): (answer: unknown) => string {
  let write: ((answer: unknown) => string) | undefined
  return (answer) => {
    write ??= build(schema)
    return write(answer)
  }
}
