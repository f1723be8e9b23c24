import build from 'fast-json-stringify'

/**
 * For Fastify's `setSerializerCompiler`: writes an answer by its schema, and nothing that the schema does not
 * declare. Each schema is compiled for its first answer: all at once would take a thirteenth of the start
 * (ADR 25). test/contract/answers sees every answer, and so a schema that cannot be compiled.
 */
export function compileWriter({ schema }: { schema: object }): (answer: unknown) => string {
  let write: ((answer: unknown) => string) | undefined
  return (answer) => {
    write ??= build(schema)
    return write(answer)
  }
}
