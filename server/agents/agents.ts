/** What agents can use, over the Model Context Protocol: tools and resources that the slices offer. */
import type { FastifyRequest } from 'fastify'
import type { Permission } from '../caller/permissions.ts'
import type { Parsed } from '../http/fields.ts'
import { exampleOf, type Schema } from '../http/schema.ts'
import { answerForModels, argumentsForModels } from './model-schema.ts'

interface Offer {
  title: string
  /** Read by models. Never holds a text that a caller wrote. */
  description: string
  /** The caller needs all of them. */
  permissions: readonly Permission[]
}

/** Every tool may be called again with the same arguments, and none takes anything away. */
export interface Tool extends Offer {
  input: Schema
  /** `inputSchema` and `outputSchema` of the protocol. */
  schemas: { input: Schema; output: Schema }
  /** Whether it changes nothing. */
  isRead: boolean
  /** Throws a Problem, which is the result that the agent gets. */
  run(input: unknown, request: FastifyRequest): Promise<object>
}

/** A tool whose `run` gets what its input schema parses. */
export function tool<Input>(
  declaration: Omit<Tool, 'run' | 'schemas'> & {
    input: Parsed<Input>
    output: Schema
    run(input: Input, request: FastifyRequest): Promise<object>
  },
): Tool {
  const { input, output } = declaration
  const schemas = {
    input: { ...argumentsForModels(input), examples: [exampleOf(input)] },
    output: answerForModels(output),
  }
  return { ...declaration, schemas } as Tool
}

export interface Resource extends Offer {
  name: string
  /** One that ends with `{id}` is a template for many. */
  uri: string
  mimeType: string
  /** Throws a Problem if there is none of this id, which is empty unless the address is a template. */
  read(id: string, request: FastifyRequest): Promise<string>
}
