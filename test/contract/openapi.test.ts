import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { permissions } from '../../server/auth/permissions.ts'
import { catalogue } from '../../server/http/problems.ts'
import { newLink, newUser, signIn, tokenPair } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { type Description, Judge, JudgedClient, toPointer } from '../support/description.ts'
import { createdId } from '../support/orders.ts'
import { passwordOf, type Service, startInside, startService } from '../support/service.ts'
import { keptView, viewOf } from '../support/views.ts'

const operationIds = [
  ...'createOrder listOrders getOrdersOverview getOrder approveOrder rejectOrder'.split(' '),
  ...'withdrawOrder addNote listOrderHistory getOrderApprovals getOrderReceipt loginSession'.split(' '),
  ...'getApprovalPolicy setApprovalPolicy listLog getLogCheckpoint streamOrderEvents'.split(' '),
  ...'refreshSession confirmSession logoutSession getCurrentUser getCurrentUserPermissions'.split(' '),
  ...'getCsrfToken issueToken refreshToken issueServiceToken revokeToken getHealth getReadiness'.split(' '),
  ...'useLink getOwnAccount listSignIns endSignIn endOtherSignIns changePassword'.split(' '),
  ...'getJwks getAuthorizationServerMetadata getOpenIdConfiguration'.split(' '),
  ...'listViews getView putView deleteView'.split(' '),
  ...'listUsers addUser getUser changeUser makeLink listClients addClient getClient changeClient'.split(' '),
  ...'rotateClientSecret dropOldClientSecrets listRoles addRole getRole setRolePermissions'.split(' '),
  ...'removeRole listPermissions listUserSignIns endUserSignIn signOutUser'.split(' '),
]
const schemaNames = [
  ...'UserAccount PaginatedListOfUserAccount AddUserCommand AddUserResponse ChangeUserCommand'.split(' '),
  ...'UserLink ClientAccount PaginatedListOfClientAccount AddClientCommand AddClientResponse'.split(' '),
  ...'ChangeClientCommand RotateClientSecretCommand RotateClientSecretResponse Role'.split(' '),
  ...'PaginatedListOfRole AddRoleCommand SetRolePermissionsCommand PaginatedListOfPermission'.split(' '),
  ...'Order OrderSummary PaginatedListOfOrderSummary OrderStatistics CreateOrderCommand'.split(' '),
  ...'RejectOrderCommand WithdrawOrderCommand AddNoteCommand AddNoteResponse'.split(' '),
  ...'PaginatedListOfOrderEvent OrderEvent OrderApprovals OrderReceipt'.split(' '),
  ...'CreateOrderResponse LoginSessionCommand TokenLoginCommand RefreshTokenCommand'.split(' '),
  ...'ClientTokenCommand AuthenticatedUser CurrentUserResponse CurrentUserPermissions'.split(' '),
  ...'CsrfTokenResponse TokenPair ServiceAccessToken EOrderStatus EOrderDirection'.split(' '),
  ...'Problem ProblemCode FieldError Permission JsonWebKeySet JsonWebKey'.split(' '),
  ...'ClientTokenForm RevocationForm OAuthFailure AuthorizationServerMetadata'.split(' '),
  ...'View PaginatedListOfView PutViewCommand'.split(' '),
  ...'OwnAccount SignIn PaginatedListOfSignIn ConfirmSessionCommand ChangePasswordCommand UseLinkCommand'.split(
    ' ',
  ),
]

describe('the live description', () => {
  let service: Service
  let description: Description
  let judge: Judge
  let admin: Client
  before(async () => {
    service = await startService({ development: true, orders: true, env: { RATE_LIMIT_FACTOR: '1000' } })
    description = (await service.client().get('/openapi/v1.json')).body
    judge = new Judge(description)
    admin = await service.bearer('admin')
  })
  after(() => service.close())

  const judged = (client: Client) => new JudgedClient(client, judge)

  describe('says what the contract says', () => {
    it('as OpenAPI 3.1, version 1.0.0, with a path for every operation', () => {
      assert.match(description.openapi, /^3\.1\.\d$/)
      assert.equal(description.info.version, '1.0.0')
      const ids = judge.operations().map(({ operation }) => operation.operationId)
      assert.deepEqual(ids.sort(), [...operationIds].sort())
    })

    it('with every schema under its name, each of them valid and each of them used', () => {
      const { schemas } = description.components
      assert.deepEqual(
        schemaNames.filter((name) => !(name in schemas)),
        [],
      )
      const text = JSON.stringify(description)
      for (const name of Object.keys(schemas)) {
        judge.validator(toPointer(['components', 'schemas', name]))
        assert.ok(text.includes(`"#/components/schemas/${name}"`), `${name} is used nowhere`)
      }
    })

    it('with exactly the members of sections 2, 14 and 15, required as there', () => {
      const shapes: Record<string, [string[], string[]]> = {
        Order: [
          [
            ...'id customer total status createdAtUtc createdAtTimeZone updatedAtUtc'.split(' '),
            ...'updatedAtTimeZone createdBy modifiedBy'.split(' '),
          ],
          [],
        ],
        OrderSummary: [['id', 'customer', 'total', 'status', 'createdAtUtc'], []],
        PaginatedListOfOrderSummary: [
          ['items', 'pageNumber', 'totalPages'],
          ['totalCount', 'hasPreviousPage', 'hasNextPage'],
        ],
        OrderStatistics: [['pending', 'approved', 'rejected', 'withdrawn', 'days', 'oldestPending'], []],
        CreateOrderCommand: [['customer', 'total'], []],
        CreateOrderResponse: [['id'], []],
        RejectOrderCommand: [['reason'], []],
        WithdrawOrderCommand: [[], ['reason']],
        AddNoteCommand: [['text'], []],
        AddNoteResponse: [['id'], []],
        PaginatedListOfOrderEvent: [
          ['items', 'pageNumber', 'totalPages'],
          ['totalCount', 'hasPreviousPage', 'hasNextPage'],
        ],
        OrderEvent: ['id kind version atUtc atTimeZone by byId text sequence hash'.split(' '), []],
        OrderApprovals: [['required', 'given', 'selfApproval', 'mayApprove', 'reason'], []],
        OrderReceipt: [['receipt'], []],
        ApprovalPolicy: [['rows'], []],
        LoginSessionCommand: [['email', 'password'], []],
        TokenLoginCommand: [['email', 'password'], []],
        RefreshTokenCommand: [['refreshToken'], []],
        ClientTokenCommand: [['clientId', 'clientSecret'], []],
        AuthenticatedUser: [['id', 'userName', 'email', 'roles'], []],
        CurrentUserResponse: [['id', 'userName', 'roles'], []],
        CurrentUserPermissions: [['permissions'], []],
        CsrfTokenResponse: [['token'], []],
        TokenPair: [['accessToken', 'accessTokenExpiresAt', 'refreshToken'], []],
        ServiceAccessToken: [['accessToken', 'expiresAt'], []],
        ClientTokenForm: [['grant_type'], ['scope', 'client_id', 'client_secret']],
        RevocationForm: [['token'], ['token_type_hint']],
        OAuthFailure: [['error', 'error_description'], []],
      }
      for (const [name, [required, optional]] of Object.entries(shapes)) {
        const schema = description.components.schemas[name] as { properties: object; required?: string[] }
        assert.deepEqual(Object.keys(schema.properties).sort(), [...required, ...optional].sort(), name)
        assert.deepEqual([...(schema.required ?? [])].sort(), [...required].sort(), name)
      }
    })

    it('with the enumerations as integers that are never renumbered', () => {
      const { EOrderStatus, EOrderDirection } = description.components.schemas
      assert.deepEqual(EOrderStatus?.enum, [0, 1, 2, 3])
      assert.deepEqual(EOrderStatus?.['x-enum-varnames'], ['Pending', 'Approved', 'Rejected', 'Withdrawn'])
      assert.deepEqual(EOrderDirection?.enum, [0, 1])
      assert.deepEqual(EOrderDirection?.['x-enum-varnames'], ['Asc', 'Desc'])
    })

    it('with names that grow as names of now or any other, so that no client fails on a new one', () => {
      const { ProblemCode, Permission } = description.components.schemas
      for (const [schema, known] of [
        [ProblemCode, Object.keys(catalogue)],
        [Permission, [...permissions]],
      ] as const) {
        assert.deepEqual(schema?.anyOf, [{ type: 'string', enum: known }, { type: 'string' }])
        assert.match(String(schema?.description), /grows/)
      }
    })

    it('with words about the document, whom to turn to, and every operation', () => {
      assert.ok(description.info.contact?.name && description.info.contact.url)
      for (const { operation } of judge.operations()) {
        assert.ok(operation.summary && operation.description, operation.operationId)
      }
    })

    it('without what generated clients misread: a pattern beside two types, a quotient of doubles', () => {
      JSON.stringify(description, (key, value) => {
        assert.notEqual(key, 'multipleOf')
        assert.ok(!Array.isArray(value?.type) || !('pattern' in value), JSON.stringify(value))
        return value
      })
    })

    it('with the end of the session on every answer to whom has been let in by one', () => {
      const guarded = judge
        .operations()
        .filter(({ operation }) => operation.security?.some((each) => 'cookieSession' in each))
      const answers = guarded.flatMap(({ operation }) => Object.entries(operation.responses))
      const without = answers.filter(([, { headers = {} }]) => !('Session-Expires' in headers))
      assert.ok(guarded.length > 5)
      assert.ok(
        without.every(
          ([status, { headers = {} }]) => status === '401' && !('Session-Idle-Expires' in headers),
        ),
      )
      assert.equal(without.length, guarded.length)
    })

    it('with the three security schemes', () => {
      const { cookieSession, antiforgery, bearerAuth } = description.components.securitySchemes
      assert.deepEqual([cookieSession?.type, cookieSession?.in], ['apiKey', 'cookie'])
      assert.deepEqual([antiforgery?.in, antiforgery?.name], ['header', 'X-XSRF-TOKEN'])
      assert.deepEqual(
        [bearerAuth?.type, bearerAuth?.scheme, bearerAuth?.bearerFormat],
        ['http', 'bearer', 'JWT'],
      )
      assert.match(String(bearerAuth?.description), /without the word Bearer/)
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

  describe('knows every answer', () => {
    interface Callers {
      bearer: Client
      viewer: Client
      anybody: Client
    }

    async function callOrderLife({ bearer, viewer, anybody }: Callers): Promise<void> {
      const reason = { reason: 'Ordered twice.' }
      const pathOfNew = async () => `/v1/orders/${await createdId(bearer)}`
      const [rejected, withdrawn] = [await pathOfNew(), await pathOfNew()]
      for (const move of ['reject', 'withdraw']) {
        await bearer.patch(`${rejected}/${move}`, reason, { 'if-match': '"9"' })
        await bearer.patch(`${rejected}/${move}`, { reason: 7 })
        await bearer.patch(`${rejected}/${move}`, reason, { 'time-zone': 'None/Such' })
        await bearer.patch(`${rejected}/${move}`, 'x', { 'content-type': 'text/plain' })
        await bearer.patch(`/v1/orders/none/${move}`, reason)
        await viewer.patch(`${rejected}/${move}`, reason)
        await anybody.patch(`${rejected}/${move}`, reason)
      }
      await bearer.patch(`${rejected}/reject`, reason)
      await bearer.patch(`${rejected}/reject`, reason)
      await judged(await service.bearer('operator')).patch(`${withdrawn}/withdraw`)
      await bearer.patch(`${withdrawn}/withdraw`)
      await bearer.patch(`${withdrawn}/withdraw`)
      await bearer.post(`${rejected}/notes`, { text: 'Called.' }, { 'idempotency-key': 'note' })
      await bearer.post(`${rejected}/notes`, { text: 'Called twice.' }, { 'idempotency-key': 'note' })
      await bearer.post(`${rejected}/notes`, {})
      await bearer.post('/v1/orders/none/notes', { text: 'Called.' })
      await viewer.post(`${rejected}/notes`, { text: 'Called.' })
      await anybody.post(`${rejected}/notes`, { text: 'Called.' })
      const approved = await pathOfNew()
      await bearer.get(`${approved}/receipt`)
      await bearer.patch(`${approved}/approve`)
      for (const told of ['history', 'approvals', 'receipt']) {
        const { headers } = await viewer.get(`${approved}/${told}`)
        await viewer.get(`${approved}/${told}`, { 'if-none-match': headers.get('etag') ?? '' })
        await viewer.get(`${approved}/${told}`, { 'if-none-match': '*' })
        await viewer.get(`/v1/orders/none/${told}`)
        await anybody.get(`${approved}/${told}`)
      }
      await viewer.get(`${approved}/history?pageSize=1&order=desc`)
      await viewer.get(`${approved}/history?pageSize=0`)
    }

    async function callApprovalPolicy({ bearer, viewer, anybody }: Callers): Promise<void> {
      const path = '/v1/approval-policy'
      const { body, headers } = await viewer.get(path)
      const etag = headers.get('etag') ?? ''
      await viewer.get(path, { 'if-none-match': etag })
      await anybody.get(path)
      await bearer.send('PUT', path, body)
      await bearer.send('PUT', path, body, { 'if-match': '"99"' })
      await bearer.send('PUT', path, { rows: [] }, { 'if-match': etag })
      await bearer.send('PUT', path, 'x', { 'content-type': 'text/plain' })
      await bearer.send('PUT', path, body, { 'if-match': etag })
      await viewer.send('PUT', path, body, { 'if-match': etag })
      await anybody.send('PUT', path, body, { 'if-match': etag })
    }

    async function callViews({ bearer, viewer, anybody }: Callers): Promise<void> {
      await bearer.get('/v1/views')
      const path = `/v1/views/${await keptView(viewer, { filter: '' })}`
      const { headers } = await viewer.get('/v1/views?pageSize=1')
      await viewer.get('/v1/views', { 'if-none-match': headers.get('etag') ?? '' })
      await viewer.get('/v1/views?pageSize=0')
      await anybody.get('/v1/views')
      await viewer.get(path)
      await viewer.get(path, { 'if-none-match': '"1"' })
      await bearer.get(path)
      await anybody.get(path)
      await viewer.send('PUT', path, viewOf())
      await viewer.send('PUT', path, viewOf({ shared: true }))
      await viewer.send('PUT', path, viewOf({ filter: '(' }))
      await viewer.send('PUT', path, viewOf(), { 'if-match': '"9"' })
      await viewer.send('PUT', path, 'x', { 'content-type': 'text/plain' })
      await bearer.send('PUT', path, viewOf())
      await anybody.send('PUT', path, viewOf())
      await keptView(viewer, { name: 'Taken' })
      await viewer.send('PUT', path, viewOf({ name: 'taken' }))
      await viewer.send('DELETE', path, undefined, { 'if-match': '"9"' })
      await anybody.send('DELETE', path)
      await viewer.send('DELETE', path)
      await viewer.send('DELETE', path)
    }

    async function callUsers({ bearer, viewer, anybody }: Callers): Promise<void> {
      const command = { userName: 'openapi', email: 'openapi@example.com', roles: ['Viewer'] }
      const added = await bearer.post('/v1/users', command)
      await bearer.post('/v1/users', command)
      await bearer.post('/v1/users', { ...command, userName: 'other' })
      await bearer.post('/v1/users', { ...command, userName: 'other', roles: ['None'] })
      await bearer.post('/v1/users', {})
      await bearer.get('/v1/users?pageSize=1')
      await bearer.get('/v1/users?pageSize=0')
      const path = added.headers.get('location') ?? ''
      await bearer.get(path)
      await bearer.get(path, { 'if-none-match': '"1"' })
      await bearer.get('/v1/users/none')
      await bearer.patch(path, { roles: [] })
      await bearer.patch(path, { roles: [] }, { 'if-match': '"1"' })
      await bearer.patch(path, { roles: 1 })
      await bearer.patch('/v1/users/1', { enabled: false })
      await bearer.post(`${path}/links`)
      await bearer.post('/v1/users/none/links')
      await anybody.post('/v1/auth/token', passwordOf('operator'))
      const sessions = await bearer.get('/v1/users/2/sessions')
      await bearer.get('/v1/users/2/sessions?pageSize=0')
      await bearer.get('/v1/users/none/sessions')
      await bearer.send('DELETE', `/v1/users/2/sessions/${sessions.body.items[0].id}`)
      await bearer.send('DELETE', '/v1/users/2/sessions/none')
      await bearer.send('DELETE', `${path}/sessions`)
      await bearer.send('DELETE', '/v1/users/none/sessions')
      await bearer.patch(path, { enabled: false })
      await bearer.post(`${path}/links`)
      for (const caller of [viewer, anybody]) {
        await caller.get('/v1/users')
        await caller.post('/v1/users', command)
        await caller.get(path)
        await caller.patch(path, {})
        await caller.post(`${path}/links`)
        await caller.get(`${path}/sessions`)
        await caller.send('DELETE', `${path}/sessions`)
        await caller.send('DELETE', `${path}/sessions/none`)
      }
    }

    async function callClients({ bearer, viewer, anybody }: Callers): Promise<void> {
      const command = { clientId: 'openapi-client', roles: ['Viewer'] }
      const added = await bearer.post('/v1/clients', command)
      await bearer.post('/v1/clients', command)
      await bearer.post('/v1/clients', { ...command, clientId: 'other', roles: ['None'] })
      await bearer.post('/v1/clients', { endsAtUtc: 'tomorrow' })
      await bearer.get('/v1/clients?pageSize=1')
      await bearer.get('/v1/clients?pageSize=0')
      const path = added.headers.get('location') ?? ''
      await bearer.get(path)
      await bearer.get(path, { 'if-none-match': '"1"' })
      await bearer.get('/v1/clients/none')
      await bearer.patch(path, { name: 'Nightly', endsAtUtc: '2999-12-31T00:00:00Z' })
      await bearer.patch(path, { roles: [] }, { 'if-match': '"1"' })
      await bearer.patch(path, { enabled: 1 })
      await bearer.get(path)
      await bearer.post(`${path}/secrets`)
      await bearer.post(`${path}/secrets`, { dropOld: 'yes' })
      await bearer.post('/v1/clients/none/secrets')
      await bearer.send('DELETE', `${path}/secrets`)
      await bearer.send('DELETE', '/v1/clients/none/secrets')
      for (const caller of [viewer, anybody]) {
        await caller.get('/v1/clients')
        await caller.post('/v1/clients', command)
        await caller.get(path)
        await caller.patch(path, {})
        await caller.post(`${path}/secrets`)
        await caller.send('DELETE', `${path}/secrets`)
      }
    }

    async function callRoles({ bearer, viewer, anybody }: Callers): Promise<void> {
      const path = '/v1/roles/OpenApi'
      const permissions = ['Orders.Read']
      await bearer.post('/v1/roles', { name: 'OpenApi', permissions })
      await bearer.post('/v1/roles', { name: 'OpenApi', permissions })
      await bearer.post('/v1/roles', { name: '7', permissions: ['Orders.Delete'] })
      await bearer.get('/v1/roles?pageSize=2')
      await bearer.get('/v1/roles?pageSize=0')
      await bearer.get('/v1/permissions?pageSize=2')
      await bearer.get('/v1/permissions?pageSize=0')
      await bearer.get(path)
      await bearer.get(path, { 'if-none-match': '"1"' })
      await bearer.get('/v1/roles/None')
      await bearer.send('PUT', path, { permissions: [] })
      await bearer.send('PUT', path, { permissions }, { 'if-match': '"1"' })
      await bearer.send('PUT', path, { permissions: 1 })
      await bearer.send('PUT', '/v1/roles/None', { permissions })
      await bearer.send('PUT', '/v1/roles/Admin', { permissions })
      await bearer.send('DELETE', '/v1/roles/Admin')
      await bearer.send('DELETE', path)
      await bearer.send('DELETE', path)
      for (const caller of [viewer, anybody]) {
        await caller.get('/v1/roles')
        await caller.get('/v1/permissions')
        await caller.get(path)
        await caller.post('/v1/roles', { name: 'OpenApi', permissions })
        await caller.send('PUT', path, { permissions })
        await caller.send('DELETE', path)
      }
    }

    async function callOwnAccount(): Promise<void> {
      const user = await newUser(service)
      const own = await signIn(service, user)
      const anybody = judged(service.client())
      const demo = judged(await service.bearer('demo-service'))
      const caller = judged(own)
      const newPassword = 'seven grey herons by the weir'
      await tokenPair(service, user)
      const { items } = (await caller.get('/v1/auth/sessions?pageSize=5')).body
      await caller.get('/v1/auth/sessions?pageSize=0')
      const ended = items.find(({ current }: { current: boolean }) => !current).id
      for (const each of [caller, demo, anybody]) {
        await each.get('/v1/auth/me/account')
        await each.get('/v1/auth/sessions')
        await each.send('DELETE', `/v1/auth/sessions/${ended}`)
        await each.send('DELETE', `/v1/auth/sessions/${ended}`)
        await each.send('DELETE', '/v1/auth/sessions')
        await each.post('/v1/auth/password', { currentPassword: 'x', newPassword })
        await each.post('/v1/auth/password', { currentPassword: user.password, newPassword: 'x' })
        await each.post('/v1/auth/password', { currentPassword: user.password, newPassword })
      }
    }

    it('of every operation, the good ones and the refusals', async () => {
      const bearer = judged(admin)
      const anybody = judged(service.client())
      const viewer = judged(await service.bearer('viewer'))
      const good = { customer: 'Acme', total: 12.5 }

      const created = await bearer.post('/v1/orders', good, { 'idempotency-key': 'openapi-1' })
      await bearer.post('/v1/orders', good, { 'idempotency-key': 'openapi-1' })
      await bearer.post('/v1/orders', { ...good, total: 1 }, { 'idempotency-key': 'openapi-1' })
      await bearer.post('/v1/orders', {})
      await bearer.post('/v1/orders', '{')
      await bearer.post('/v1/orders', good, { 'time-zone': 'None/Such' })
      await bearer.post('/v1/orders', good, { 'content-type': 'text/plain' })
      await bearer.post('/v1/orders', ' '.repeat(70_000))
      await bearer.post('/v1/orders', good, { 'x-long': 'a'.repeat(15_800), 'x-more': 'a'.repeat(900) })
      await viewer.post('/v1/orders', good)
      await anybody.post('/v1/orders', good)

      const list = await bearer.get('/v1/orders')
      await bearer.get('/v1/orders', { 'if-none-match': list.headers.get('etag') ?? '' })
      await bearer.get('/v1/orders?pageNumber=99&orderBy=updatedAtUtc&order=0')
      await bearer.get('/v1/orders?paginated=false&filter=status%3DPending')
      await bearer.get('/v1/orders?pageSize=0')
      await bearer.get('/v1/orders?filter=(')
      await bearer.get(`/v1/orders?filter=${'a'.repeat(9_000)}`)
      await anybody.get('/v1/orders')

      const overview = await bearer.get('/v1/orders/summary?days=2')
      const revalidated = { 'if-none-match': overview.headers.get('etag') ?? '' }
      await bearer.get('/v1/orders/summary?days=2', revalidated)
      await bearer.get('/v1/orders/summary?days=367')
      await anybody.get('/v1/orders/summary')

      await viewer.get('/v1/orders/events')
      await anybody.get('/v1/orders/events')

      for (const path of ['/v1/log', '/v1/log/checkpoint']) {
        await bearer.get(path)
        await bearer.get(path, { accept: 'application/jsonl' })
        await bearer.get(`${path}?after=-1`)
        await viewer.get(path)
        await anybody.get(path)
      }

      const order = `/v1/orders/${created.body.id}`
      await bearer.get(order)
      await bearer.get(order, { 'if-none-match': '"1"' })
      await bearer.get('/v1/orders/none')
      await anybody.get(order)
      await bearer.patch(`${order}/approve`, undefined, { 'if-match': '"9"' })
      await bearer.patch(`${order}/approve`, undefined, { 'idempotency-key': '' })
      await bearer.patch(`${order}/approve`, 'x', { 'content-type': 'text/plain' })
      await bearer.patch(`${order}/approve`)
      await bearer.patch(`${order}/approve`)
      await bearer.get(order)
      await bearer.patch('/v1/orders/none/approve')
      await viewer.patch(`${order}/approve`)
      await anybody.patch(`${order}/approve`)

      await callOrderLife({ bearer, viewer, anybody })
      await callApprovalPolicy({ bearer, viewer, anybody })
      await callViews({ bearer, viewer, anybody })
      await callUsers({ bearer, viewer, anybody })
      await callClients({ bearer, viewer, anybody })
      await callRoles({ bearer, viewer, anybody })

      const browser = judged(service.client())
      await browser.get('/v1/auth/csrf')
      await browser.post('/v1/auth/session', passwordOf('admin'))
      await browser.post('/v1/auth/session', passwordOf('admin'), { prefer: 'return=minimal' })
      await browser.post('/v1/auth/session', {})
      await browser.post('/v1/auth/session', { email: 'nobody@example.com', password: 'x' })
      await browser.post('/v1/auth/session', passwordOf('admin'), { 'sec-fetch-site': 'cross-site' })
      await browser.get('/v1/auth/me')
      await browser.get('/v1/auth/me/permissions')
      await anybody.get('/v1/auth/me/permissions')
      await browser.post('/v1/auth/session/refresh')
      await browser.fetchAntiforgeryToken()
      await browser.post('/v1/auth/session/refresh')
      await browser.post('/v1/auth/session/refresh', undefined, { prefer: 'return=minimal' })
      await browser.post('/v1/auth/session/confirm', passwordOf('admin'))
      await browser.post('/v1/auth/session/confirm', { password: 'x' })
      await browser.post('/v1/auth/session/confirm', {})
      await anybody.post('/v1/auth/session/confirm', passwordOf('admin'))
      const { token } = await newLink(service, await newUser(service))
      for (const newPassword of ['x', 'password password', 'seven grey herons by the weir']) {
        await anybody.post(`/v1/auth/links/${token}`, { newPassword })
      }
      await anybody.post(`/v1/auth/links/${token}`, { newPassword: 'seven grey herons by the weir' })
      await callOwnAccount()
      await browser.post('/v1/auth/session/logout', 'x', { 'content-type': 'text/plain' })
      await browser.post('/v1/auth/session/logout')
      await browser.post('/v1/auth/session/logout')
      await browser.get('/v1/auth/me')

      const pair = await anybody.post('/v1/auth/token', passwordOf('viewer'))
      await anybody.post('/v1/auth/token', { email: 'nobody@example.com', password: 'x' })
      const { refreshToken } = pair.body
      await anybody.post('/v1/auth/token/refresh', { refreshToken })
      await anybody.post('/v1/auth/token/refresh', { refreshToken })
      await anybody.post('/v1/auth/token/refresh', { refreshToken: 7 })
      const secret = { clientId: 'demo-service', clientSecret: 'countersign-demo-service-secret' }
      await anybody.post('/v1/auth/clients/token', secret)
      await anybody.post('/v1/auth/clients/token', { ...secret, clientSecret: 'x' })
      await judged(await service.bearer('demo-service')).get('/v1/auth/me')
      const asForm = { 'content-type': 'application/x-www-form-urlencoded' }
      await anybody.post('/v1/auth/clients/token', 'grant_type=client_credentials', asForm)
      await anybody.post('/v1/auth/clients/token', 'grant_type=password', asForm)
      await anybody.post('/v1/auth/revoke', `token=${refreshToken}`, asForm)
      await anybody.post('/v1/auth/revoke', 'token=', asForm)
      await anybody.post('/v1/auth/revoke', {})

      await anybody.get('/health')
      await anybody.get('/health/ready')
      for (const name of ['jwks.json', 'oauth-authorization-server', 'openid-configuration']) {
        const { headers } = await anybody.get(`/.well-known/${name}`)
        await anybody.get(`/.well-known/${name}`, { 'if-none-match': headers.get('etag') ?? '' })
      }
      await anybody.get('/health', { host: 'localhost', 'x-long': 'a'.repeat(17_000) })
    })

    it('of an instance that is limited, draining or without its database', async (t) => {
      const env = { RATE_LIMIT_FACTOR: '0.0001' }
      const limited = await startInside({ development: true, env })
      t.after(() => limited.close())
      const caller = judged(limited.client())
      const all = () =>
        Promise.all(
          judge
            .operations()
            .map(({ method, path }) => caller.send(method.toUpperCase(), path.replace('{id}', 'x'))),
        )
      await all()
      const refused = await all()
      assert.equal(refused.filter(({ status }) => status === 429).length, operationIds.length - 2)
      limited.readiness.phase = 'closing'
      const drained = await all()
      assert.equal(drained.filter(({ status }) => status === 503).length, operationIds.length - 1)
      limited.readiness.phase = 'serving'
      await limited.db.close()
      await judged(limited.client()).get('/health/ready')
    })

    it('that it promises as a success, each of which was seen', () => {
      const promised = judge
        .operations()
        .flatMap(({ operation }) =>
          Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
        )
        .filter((each) => / [23]\d\d$/.test(each))
      assert.deepEqual(
        promised.filter((each) => !judge.seen.has(each)),
        [],
      )
    })
  })
})
