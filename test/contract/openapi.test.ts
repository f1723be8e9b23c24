import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, it } from 'node:test'
import { validate } from '@scalar/openapi-validator'
import { permissions } from '../../server/caller/permissions.ts'
import { catalogue } from '../../server/problems/catalogue.ts'
import { type Description, Judge, toPointer } from '../support/description.ts'
import { testService } from '../support/service.ts'

interface Members {
  properties: Record<string, { pattern?: string }>
}

describe('the live description says what the contract says', () => {
  const service = testService({ development: true, env: { PUBLIC_URL: 'http://localhost:8080' } })
  let description: Description
  let judge: Judge
  before(async () => {
    description = (await service.client().get('/openapi/v1.json')).body
    judge = new Judge(description)
  })

  it('as OpenAPI 3.1, version 1.0.0', () => {
    assert.match(description.openapi, /^3\.1\.\d$/)
    assert.equal(description.info.version, '1.0.0')
  })

  /** test/compatibility.test.ts compares that file with what releases promised. */
  it('as docs/openapi.json has it, every operation, and every bound of every field', async () => {
    const file = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8')
    assert.deepEqual(description, JSON.parse(file))
  })

  it('as OpenAPI allows it, with every success, a failure and each parameter of the path', () => {
    const { errors } = validate(JSON.parse(JSON.stringify(description)), { checkPathParameters: false })
    assert.deepEqual(errors, [])
    for (const { path, operation } of judge.operations()) {
      const statuses = Object.keys(operation.responses)
      // A sign-in by company account sends the browser on.
      const isSuccess = (status: string) => status < '300' || status === '303'
      assert.ok(statuses.some(isSuccess) && statuses.some((status) => status > '399'), path)
      const described = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      const inPath = [...path.matchAll(/(?<=\{)\w+(?=\})/g)].map(([name]) => name)
      assert.deepEqual(described.map(({ name }) => name).sort(), inPath.sort(), path)
      for (const scheme of (operation.security ?? []).flatMap((each) => Object.keys(each))) {
        assert.ok(scheme in description.components.securitySchemes, scheme)
      }
    }
  })

  it('with no part that nothing refers to, and no reference that leads nowhere', () => {
    const { securitySchemes: _, ...parts } = description.components
    const named = Object.entries(parts).flatMap(([kind, names]) =>
      Object.keys(names).map((name) => `#/components/${kind}/${name}`),
    )
    const used = JSON.stringify(description).matchAll(/"\$ref":"([^"]+)"/g)
    assert.deepEqual([...new Set([...used].map(([, reference]) => reference))].sort(), named.sort())
  })

  it('with patterns that compile with the flag u and without', () => {
    const patterns = new Set<string>()
    JSON.stringify(description, (name, value) => {
      if (name === 'pattern' && typeof value === 'string') patterns.add(value)
      return value
    })
    assert.ok(patterns.size > 20)
    for (const pattern of patterns) for (const flags of ['', 'u']) new RegExp(pattern, flags)
  })

  it('with patterns that count characters alike with the flag u and without', () => {
    const { properties } = description.components.schemas.CreateOrderCommand as unknown as Members
    const { pattern = '' } = properties.customer ?? {}
    const samples = [
      '😀'.repeat(200),
      '😀'.repeat(201),
      ` ${'a'.repeat(200)} `,
      'é😀',
      '😀',
      '\ud83d',
      'a\u202eb',
      ' ',
    ]
    const judged = ['', 'u'].map((flags) => samples.map((text) => new RegExp(pattern, flags).test(text)))
    const expected = [true, false, true, true, true, false, false, false]
    assert.deepEqual(judged, [expected, expected])
  })

  it('refuses a change of nothing, and says so', async () => {
    const admin = await service.bearer('admin')
    for (const path of [
      '/v1/users/1',
      '/v1/clients/5',
      '/v1/webhooks/019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57',
    ]) {
      const answer = await admin.patch(path, {})
      assert.equal(answer.status, 400)
      assert.equal(answer.body.errors[0].detail, 'The body must have a member to change.')
    }
    const changes = Object.entries(description.components.schemas).filter(([name]) =>
      /^Change(?:User|Client|Webhook)Command$/.test(name),
    )
    assert.deepEqual(
      changes.map(([, { minProperties }]) => minProperties),
      [1, 1, 1],
    )
  })

  it('with valid schemas', () => {
    for (const name of Object.keys(description.components.schemas)) {
      judge.validator(toPointer(['components', 'schemas', name]))
    }
  })

  it('with every shared header, parameter and answer written once', () => {
    const text = JSON.stringify(description)
    const { headers, parameters, responses } = description.components
    for (const [kind, parts] of Object.entries({ headers, parameters, responses })) {
      for (const name of Object.keys(parts)) {
        assert.ok(text.split(`"#/components/${kind}/${name}"`).length > 2, `${name} stands in one place`)
      }
      assert.ok(Object.keys(parts).length > 5, kind)
    }
    const { responses: ofGetOrder } = description.paths['/v1/orders/{id}']?.get ?? {}
    assert.deepEqual(ofGetOrder?.[404], { $ref: '#/components/responses/OrderNotFound' })
  })

  it('with a name for each shared answer that is one meaning, or an operation and a status', () => {
    const ids = judge.operations().map(({ operation }) => operation.operationId.toLowerCase())
    for (const name of Object.keys(description.components.responses)) {
      const [, operationId = ''] = /^([A-Z].*)\d{3}$/.exec(name) ?? []
      const isOfOperation = ids.includes(operationId.toLowerCase())
      const code = name
        .replace(/^(?:OAuthFailure|Public)/, '')
        .replaceAll(/(?!^)[A-Z]/g, '-$&')
        .toLowerCase()
      const isMeaning = code in catalogue || ['no-content', 'not-modified', 'o-k', 'see-other'].includes(code)
      assert.ok(isOfOperation || isMeaning, name)
    }
  })

  it('with every tag that an operation has declared, and each declared tag used', () => {
    const used = judge.operations().flatMap(({ operation }) => operation.tags)
    assert.deepEqual(description.tags.map(({ name }) => name).sort(), [...new Set(used)].sort())
  })

  it('with lists of names that may grow left open, so that no client fails on a new name', () => {
    const { ProblemCode, Permission } = description.components.schemas
    for (const [schema, known] of [
      [ProblemCode, Object.keys(catalogue)],
      [Permission, [...permissions]],
    ] as const) {
      assert.deepEqual(schema?.anyOf, [{ type: 'string', enum: known }, { type: 'string' }])
      assert.match(String(schema?.description), /grows/)
    }
  })

  it('with a description of the document, a contact and a description of every operation', () => {
    assert.ok(description.info.contact?.name && description.info.contact.url)
    for (const { operation } of judge.operations()) {
      assert.ok(operation.summary && operation.description, operation.operationId)
    }
  })

  it('without what generated clients misread: a pattern next to two types, a multipleOf of doubles', () => {
    JSON.stringify(description, (key, value) => {
      assert.notEqual(key, 'multipleOf')
      assert.ok(!Array.isArray(value?.type) || !('pattern' in value), JSON.stringify(value))
      return value
    })
  })

  it('with the end of the session on every answer to a caller with a session', () => {
    const guarded = judge
      .operations()
      .filter(({ operation }) => operation.security?.some((each) => 'cookieSession' in each))
    const answers = guarded.flatMap(({ operation }) => Object.entries(operation.responses))
    const without = answers.filter(([, { headers = {} }]) => !('Session-Expires' in headers))
    assert.ok(guarded.length > 5)
    assert.ok(
      without.every(([status, { headers = {} }]) => status === '401' && !('Session-Idle-Expires' in headers)),
    )
    assert.equal(without.length, guarded.length)
  })

  it('with an example of every body, parameter and answer, valid against its schema', () => {
    let count = 0
    const assertExample = (parts: string[], { example }: { example?: unknown }) => {
      assert.notEqual(example, undefined, parts.join(' '))
      const validate = judge.validator(toPointer([...parts, 'schema']))
      assert.ok(validate(example), `${parts.join(' ')}: ${JSON.stringify([example, validate.errors])}`)
      count += 1
    }
    for (const { path, method, operation } of judge.operations()) {
      const at = ['paths', path, method]
      for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) {
        assertExample([...at, 'requestBody', 'content', type], content)
      }
      for (const [status, response] of Object.entries(operation.responses)) {
        for (const [type, content] of Object.entries(response.content ?? {})) {
          assertExample([...at, 'responses', status, 'content', type], content)
        }
      }
      const queries = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
      for (const parameter of queries) {
        const index = operation.parameters?.indexOf(parameter)
        assertExample([...at, 'parameters', String(index)], parameter)
      }
    }
    assert.ok(count > 100, String(count))
  })
})
