import type { Server } from 'node:http'
import { isIP } from 'node:net'
import { type FastifyBaseLogger, type FastifyRequest, fastify, LogController } from 'fastify'
import { registerAgents } from './agents/routes.ts'
import { refuseContradicted } from './audit/audit.ts'
import { isCheckpointCurrent, placeLines } from './audit/checkpoints/proof.ts'
import { currentReceipt, signReceipt } from './audit/checkpoints/receipt.ts'
import { registerLog } from './audit/routes.ts'
import { Directory } from './auth/accounts/directory.ts'
import { Authenticator } from './auth/authenticate.ts'
import { Challenges } from './auth/credentials/passkeys/challenges.ts'
import { PasswordJudge } from './auth/credentials/passwords/judge.ts'
import { Passwords } from './auth/credentials/passwords/passwords.ts'
import { Antiforgery } from './auth/credentials/sessions/antiforgery.ts'
import { LoginThrottle } from './auth/credentials/throttle/throttle.ts'
import type { SigningKeys } from './auth/credentials/tokens/keys.ts'
import { RefreshTokens } from './auth/credentials/tokens/refresh-tokens.ts'
import { AccessTokens } from './auth/credentials/tokens/tokens.ts'
import { isStillAdmitted, registerGuard } from './auth/guard.ts'
import { registerAuth } from './auth/routes/routes.ts'
import { Touches } from './auth/touches.ts'
import { type Config, companySettings, publicUrlAt } from './config.ts'
import { type CourierParts, webhookSending } from './couriers.ts'
import { publishedAccounts } from './demo/demo.ts'
import { Allowance } from './http/allowance.ts'
import { compileWriter } from './http/answer-writers.ts'
import { registerBodies } from './http/body.ts'
import { registerConnections } from './http/connections.ts'
import { registerCors } from './http/cors.ts'
import { answerExpectation, answerParserError, registerErrors } from './http/errors.ts'
import { registerHeldBackBodies } from './http/expect.ts'
import { Exports } from './http/export.ts'
import { compileParser, type FieldsTypeProvider } from './http/fields.ts'
import { parseQuery } from './http/form-text.ts'
import { healthRoutes, type Readiness, registerDraining } from './http/health.ts'
import { fingerprintsBy } from './http/idempotency.ts'
import { keyRoutes } from './http/jwks.ts'
import { metadataRoutes } from './http/metadata.ts'
import { registerNotFound } from './http/not-found.ts'
import { RequestLimits } from './http/rate-limit.ts'
import { RefusalLog } from './http/refusal-log.ts'
import {
  parserHeaderLimitBytes,
  registerRequestContext,
  requestId,
  routableUrl,
} from './http/request-context.ts'
import { registerRequestLog } from './http/request-log.ts'
import { type App, collectRoutes, register } from './http/route.ts'
import { registerSecurityHeaders, securityHeaders } from './http/security-headers.ts'
import { registerSecurityTxt } from './http/security-txt.ts'
import { registerVerifyPage, registerWebApp } from './http/spa.ts'
import { sendWebDir } from './http/web-dir.ts'
import type { Log } from './log.ts'
import { type Resolve, systemNames } from './names.ts'
import { LiveOrders } from './orders/live/live.ts'
import { registerLiveOrders } from './orders/live/routes.ts'
import { LiveStreams } from './orders/live/streams.ts'
import type { ReceiptSigner } from './orders/requests.ts'
import { registerOrders } from './orders/routes.ts'
import { Statements } from './orders/statements.ts'
import { instructions, orderResources, orderTools } from './orders/tools/tools.ts'
import { registerWebhooks } from './outbox/webhooks/routes.ts'
import { AddressRanges, socketPathOf } from './setting.ts'
import { findWarnings } from './warnings.ts'

export interface AppParts extends CourierParts {
  log: Log
  keys: SigningKeys
  antiforgeryKey: Buffer
  readiness: Readiness
  /** Finds the addresses of names that the operator set; that of the system unless given. */
  resolve?: Resolve
}

const bodyLimitBytes = 64 * 1024

/** The whole service, ready to listen: every hook and slice by name, in the order in which they run. */
export async function buildApp(parts: AppParts): Promise<App> {
  const { config, db, clock, keys, logKeys, readiness } = parts
  const refusals = new RefusalLog(parts.log)
  const app = createServer(parts, publicUrl, refusals)
  function publicUrl(): string {
    return publicUrlAt(config, listeningPort(app.server) ?? config.port)
  }
  const limits = new RequestLimits(config.rateLimits)
  const tokens = new AccessTokens(keys, publicUrl, clock)
  const directory = new Directory(db, clock, config.permissionCacheTtlSeconds)
  const authenticator = new Authenticator(config, db, clock, tokens, directory)
  const antiforgery = new Antiforgery(parts.antiforgeryKey)

  limits.register(app)
  registerErrors(app, publicUrl)
  registerRequestLog(app, parts.log, refusals)
  registerSecurityHeaders(app, config)
  registerRequestContext(app, config)
  registerConnections(app)
  registerDraining(app, readiness)
  registerCors(app, config.corsOrigins, limits)
  registerGuard(app, { config, clock, db, publicUrl, authenticator, directory, antiforgery, limits })
  registerBodies(app)
  registerHeldBackBodies(app)
  const routes = collectRoutes(app)
  const sendWebApp = await registerWebApp(app, async () => ({
    currency: config.currency,
    mail: config.smtpUrl && 'on',
    company: config.oidcIssuer && config.oidcName,
    organisation: config.organisationName,
    'demo-accounts': config.development ? await publishedAccounts(db.read) : undefined,
  }))
  const sendPage = config.webDir ? sendWebDir(config.webDir, config.webCsp) : sendWebApp
  registerNotFound(app, { limits, publicUrl, sendPage })

  const { development } = config
  register(app, 'Operations', healthRoutes, {
    db,
    readiness,
    warnings: () => findWarnings({ db, clock }),
    refuseContradicted: () => refuseContradicted(db.read),
  })
  register(app, 'Operations', keyRoutes, { jwks: keys.jwks, development })
  register(app, 'Operations', metadataRoutes, { publicUrl, algorithm: keys.algorithm, development })
  registerVerifyPage(app)
  registerSecurityTxt(app, config.securityContact, publicUrl, clock)
  registerAuth(app, {
    config,
    db,
    change: directory.change,
    clock,
    publicUrl,
    authenticator,
    antiforgery,
    limits,
    passwords: new Passwords(),
    judge: new PasswordJudge(),
    throttle: new LoginThrottle(db, clock, parts.antiforgeryKey),
    challenges: new Challenges(parts.antiforgeryKey),
    tokens,
    refreshTokens: new RefreshTokens(parts.antiforgeryKey),
    company: await companyOf(parts),
  })
  const isAdmitted = (request: FastifyRequest) => isStillAdmitted(request, authenticator)
  const exports = new Exports(isAdmitted)
  const checkpoints = { db, keys: logKeys, publicUrl, isWitnessed: config.logWitnesses.length > 0 }
  const receipts: ReceiptSigner = {
    sign: async (lines) => signReceipt(keys, publicUrl(), await placeLines(checkpoints, lines), clock()),
    isCurrent: async (receipt, lines) => {
      const kept = currentReceipt(keys, publicUrl(), receipt, lines)
      return kept !== undefined && isCheckpointCurrent(checkpoints, kept.checkpoint, lines)
    },
  }
  const statements = new Statements(parts.antiforgeryKey)
  const fingerprint = fingerprintsBy(parts.antiforgeryKey)
  const touches = new Touches({ db, publicUrl })
  const allowance = new Allowance(config.documentBytesPerHour)
  const orderParts = { config, db, clock, fingerprint, exports, receipts, statements, touches, allowance }
  await registerOrders(app, orderParts)
  registerLiveOrders(app, new LiveStreams(new LiveOrders(db), isAdmitted))
  registerLog(app, { ...checkpoints, exports })
  registerWebhooks(app, { config, db, clock, ...webhookSending(parts, publicUrl) })
  const toolParts = { config, db, clock, fingerprint, publicUrl }
  registerAgents(app, {
    tools: orderTools(toolParts),
    resources: orderResources(toolParts),
    instructions,
    limits,
    publicUrl,
  })
  if (development) {
    const { registerApiBrowser } = await import('./http/api-browser.ts')
    registerApiBrowser(app, routes, publicUrl)
  }
  return app
}

function createServer({ config, log }: AppParts, publicUrl: () => string, refusals: RefusalLog): App {
  const bareAnswers = { publicUrl, apiHeaders: securityHeaders(config), refusals }
  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    // http/request-log.ts writes the line of a request.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestId,
    requestIdHeader: false,
    bodyLimit: bodyLimitBytes,
    trustProxy: trusted(config),
    // A request must arrive within 30 s, its headers within 10 s.
    requestTimeout: 30_000,
    // Drops a caller that reads nothing for this long.
    connectionTimeout: 30_000,
    keepAliveTimeout: config.keepAliveSeconds * 1000,
    http: {
      maxHeaderSize: parserHeaderLimitBytes,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2_000,
      requireHostHeader: false,
    },
    rewriteUrl: routableUrl,
    routerOptions: {
      ignoreTrailingSlash: true,
      caseSensitive: true,
      maxParamLength: parserHeaderLimitBytes,
      querystringParser: parseQuery,
    },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: true,
    clientErrorHandler: (error, socket) => answerParserError(error, socket, bareAnswers),
  }).withTypeProvider<FieldsTypeProvider>()
  app.server.on('checkExpectation', (request, response) => answerExpectation(request, response, bareAnswers))
  app.setValidatorCompiler(compileParser)
  app.setSerializerCompiler(compileWriter)
  return app
}

/** Loads what talks to a provider only where there is one. */
async function companyOf({ config, clock, antiforgeryKey, resolve = systemNames() }: AppParts) {
  const settings = companySettings(config)
  if (settings === undefined) return undefined
  const { CompanyProvider } = await import('./auth/credentials/company/provider.ts')
  const { Attempts } = await import('./auth/credentials/company/attempt.ts')
  return {
    provider: new CompanyProvider({ settings, resolve, clock }),
    attempts: new Attempts(antiforgeryKey),
  }
}

/** The proxies whose X-Forwarded-For counts. The peer at a socket has no address. */
function trusted({ host, trustedProxies }: Config) {
  if (socketPathOf(host) === undefined) return trustedProxies.length > 0 ? trustedProxies : false
  const ranges = new AddressRanges(trustedProxies)
  return (address: string, hop: number) => hop === 0 || (isIP(address) !== 0 && ranges.has(address))
}

function listeningPort(server: Server): number | undefined {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : undefined
}
