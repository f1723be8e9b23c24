import build from 'fast-json-stringify'

/**
 * For Fastify's `setSerializerCompiler`: writes an answer by its schema, which lets nothing through that it does not
 * declare. Each is compiled for its first answer: all of them at once are a thirteenth of the start (ADR 25). A schema
 * that cannot be compiled shows in test/contract/answers, which sees each answer.
 */
export function compileWriter({ schema }: { schema: object }): (answer: unknown) => string {
  let write: ((answer: unknown) => string) | undefined
  return (answer) => {
    write ??= build(schema)
    return write(answer)
  }
}
