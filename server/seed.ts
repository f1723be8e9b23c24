import type { Insertable, Kysely, Transaction } from 'kysely'
import type { Passwords } from './auth/passwords.ts'
import type { Database, OrdersTable } from './db/tables.ts'
import { newOrderId, sha256 } from './ids.ts'
import { foldText } from './orders/fold.ts'

/** Published on purpose: these exist in development only, and production does not start beside them. */
export const demoAccounts = [
  { userName: 'admin', email: 'admin@example.com', password: 'countersign-demo-admin', role: 'Admin' },
  {
    userName: 'operator',
    email: 'operator@example.com',
    password: 'countersign-demo-operator',
    role: 'Operator',
  },
  { userName: 'viewer', email: 'viewer@example.com', password: 'countersign-demo-viewer', role: 'Viewer' },
] as const

export const demoClient = {
  clientId: 'demo-service',
  clientSecret: 'countersign-demo-service-secret',
  role: 'Operator',
} as const

const orderCount = 250
const dayMilliseconds = 86_400_000
const periodMilliseconds = 90 * dayMilliseconds
/** SQLite takes 32,766 values in a statement; this many rows stay far below. */
const rowsPerInsert = 100

export interface SeedDemoInput {
  nowMilliseconds: number
  users: { userName: string; email: string; role: string; passwordHash: string }[]
  client: { clientId: string; role: string; secretHash: string }
  orders: Insertable<OrdersTable>[]
}

/** True for a database without accounts and orders: worth the work of `prepareDemo`. */
export async function isUnseeded(db: Kysely<Database>): Promise<boolean> {
  const principal = await db.selectFrom('principals').select('id').limit(1).executeTakeFirst()
  const order = await db.selectFrom('orders').select('id').limit(1).executeTakeFirst()
  return principal === undefined && order === undefined
}

/** Everything that `seedDemo` writes. Orders are the same at every run, but for their ids and the running instant. */
export async function prepareDemo(options: {
  nowMilliseconds: number
  passwords: Passwords
  demoOrders: boolean
}): Promise<SeedDemoInput> {
  const { nowMilliseconds, passwords, demoOrders } = options
  const users = demoAccounts.map(async ({ password, ...user }) => ({
    ...user,
    passwordHash: await passwords.hash(password),
  }))
  return {
    nowMilliseconds,
    users: await Promise.all(users),
    client: {
      clientId: demoClient.clientId,
      role: demoClient.role,
      secretHash: sha256(demoClient.clientSecret),
    },
    orders: demoOrders ? makeOrders(nowMilliseconds) : [],
  }
}

/**
 * Fills an empty database for development, all accounts marked `demo`; does nothing to any other. Of two instances
 * that start at once the second finds the first account taken and seeds nothing.
 */
export async function seedDemo(
  trx: Transaction<Database>,
  input: SeedDemoInput,
): Promise<{ seeded: boolean }> {
  if (!(await isUnseeded(trx))) return { seeded: false }
  for (const [index, user] of input.users.entries()) {
    const id = await insertDemoPrincipal(trx, 'user', user.userName, user.role, input.nowMilliseconds)
    if (id === undefined && index === 0) return { seeded: false }
    if (id === undefined) throw new Error(`${user.userName} appeared while the database was seeded`)
    await trx
      .insertInto('users')
      .values({ principal_id: id, email: user.email, password_hash: user.passwordHash, time_zone: null })
      .execute()
  }
  const { clientId, role, secretHash } = input.client
  const id = await insertDemoPrincipal(trx, 'client', clientId, role, input.nowMilliseconds)
  if (id === undefined) throw new Error(`${clientId} appeared while the database was seeded`)
  await trx
    .insertInto('client_secrets')
    .values({ principal_id: id, secret_hash: secretHash, created_at: input.nowMilliseconds })
    .execute()
  for (let start = 0; start < input.orders.length; start += rowsPerInsert) {
    await trx
      .insertInto('orders')
      .values(input.orders.slice(start, start + rowsPerInsert))
      .execute()
  }
  return { seeded: true }
}

async function insertDemoPrincipal(
  trx: Transaction<Database>,
  kind: 'user' | 'client',
  name: string,
  role: string,
  nowMilliseconds: number,
): Promise<number | undefined> {
  const principal = await trx
    .insertInto('principals')
    .values({
      kind,
      name,
      name_folded: name,
      enabled: 1,
      credentials_changed_at: nowMilliseconds,
      demo: 1,
      created_at: nowMilliseconds,
    })
    .onConflict((conflict) => conflict.column('name_folded').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (principal === undefined) return undefined
  await trx.insertInto('principal_roles').values({ principal_id: principal.id, role }).execute()
  return principal.id
}

/** Numbers from 0 up to 1, the same for the same seed (xorshift32). Not for secrets. */
function pseudoRandom(seed: number): () => number {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

const creators = [
  { name: 'operator', zones: ['Europe/Berlin', 'Europe/London', 'America/New_York'] },
  { name: 'operator', zones: ['Europe/Berlin', 'Asia/Tokyo', 'America/Sao_Paulo'] },
  { name: 'admin', zones: ['Europe/Lisbon', 'Australia/Sydney'] },
  { name: 'demo-service', zones: ['UTC'] },
]
const approverZones = ['Europe/Lisbon', 'Europe/Berlin', 'Asia/Singapore', 'America/Los_Angeles', 'UTC']

/** The newest is some minutes old; the older ones spread over the period. */
function makeOrders(nowMilliseconds: number): Insertable<OrdersTable>[] {
  const random = pseudoRandom(0x0c5161)
  const pick = <T>(values: readonly [T, ...T[]] | readonly T[]): T =>
    values[Math.floor(random() * values.length)] as T
  const ages = Array.from({ length: orderCount }, () =>
    Math.floor(random() * (periodMilliseconds - dayMilliseconds)),
  )
  return ages
    .sort((a, b) => b - a)
    .map((age) => {
      const createdAt = nowMilliseconds - age - 5 * 60_000
      const creator = pick(creators)
      const customer = pick(customers).normalize('NFC')
      const approvedAt = createdAt + 60_000 + Math.floor(random() ** 3 * 4 * dayMilliseconds)
      const approved = random() < 0.62 && approvedAt <= nowMilliseconds
      return {
        id: newOrderId(createdAt),
        customer,
        customer_folded: foldText(customer),
        total_e4: makeTotal(random),
        status: approved ? 1 : 0,
        created_at: createdAt,
        created_at_time_zone: pick(creator.zones),
        created_by: creator.name,
        updated_at: approved ? approvedAt : null,
        updated_at_time_zone: approved ? pick(approverZones) : null,
        modified_by: approved ? 'admin' : null,
        version: approved ? 2 : 1,
      }
    })
}

/** Mostly hundreds, sometimes hundreds of thousands; mostly two decimals, but none to four occur. */
function makeTotal(random: () => number): number {
  const unitsE4 = 10 ** (1 + random() ** 1.5 * 4.5) * 10_000
  const decimals = [2, 2, 2, 2, 0, 0, 1, 3, 4][Math.floor(random() * 9)] ?? 2
  const step = 10 ** (4 - decimals)
  return Math.round(unitsE4 / step) * step
}

/** None of them is meant to be a company that exists. */
const customers = [
  'Abenteuer & Söhne GmbH',
  'Aalto Sähkö Oy',
  'Açaí do Norte Ltda.',
  'Ægir Havfiske AS',
  'Alder & Finch Ltd',
  'Ali Yılmaz Tekstil A.Ş.',
  'Amberfield Grain Co-operative',
  'Ångström Instrument AB',
  'Antoine Lefèvre & Cie',
  'Atelier Brûlé SARL',
  'Bäckerei Müller & Groß',
  'Bizkaia Itsasontziak S.L.',
  'Blaženka Dvořáková s.r.o.',
  'Bluewater Bay Marine Supplies',
  'Boucherie de l’Étoile',
  'Café Ñandú S.A.S.',
  'Călin și Fiii SRL',
  'Carpintería Hermanos Núñez',
  'Cedar Ridge Dental Group',
  'Chłodnia Śląska sp. z o.o.',
  'Ciołek i Wspólnicy',
  'Coöperatie De Groene Weide U.A.',
  'Copperleaf Analytics, Inc.',
  'Đặng Minh Trà Co., Ltd',
  'Delgado y Compañía',
  'Donau Logistik KG',
  'Dún Laoghaire Boatworks',
  'Eðvarð Fiskur ehf.',
  'Élan Mécanique SA',
  'Falcón Minería S.A. de C.V.',
  'Färgfabriken Höst AB',
  'Fjällräv Utrustning HB',
  'Garcia & O’Leary LLP',
  'Grønn Kraft ASA',
  'Großhandel Weiß e. K.',
  'Hälsokällan i Växjö',
  'Harbour Lights Hotel',
  'Ibarra–Quispe Exportaciones',
  'İnci Gıda Sanayi',
  'Ironbark Timber Pty Ltd',
  'Jöklar Ferðir ehf.',
  'Kahurangi Wool Ltd',
  'Kőszegi Borászat Kft.',
  'Krüger Präzisionsteile',
  'L’Olivier de Tunis SUARL',
  'Łódzkie Zakłady Tkackie',
  'Lumière & Ombre',
  'Māori Pounamu Carvers',
  'Mbeki Solar (Pty) Ltd',
  'Nguyễn Văn Hải & Con',
  'Northwind Orchard Supply',
  'Óbidos Cerâmica Lda.',
  'Ødegård Møbler',
  'Okonkwo Textiles Nigeria Ltd',
  'Panadería La Cigüeña',
  'Pâtisserie Noël',
  'Quinta da Conceição',
  'Rīgas Dzintars SIA',
  'Šumava Dřevo a.s.',
  'Smörgås & Co 🥪',
  'Sørensen Fisk ApS',
  'Stonebridge Primary School',
  'Tāne Mahuta Nurseries',
  'Třebíč Sklárny',
  'Università Popolare di Cefalù',
  'Vilniaus Ąžuolas UAB',
  'Wójcik Żeglarstwo',
  'Zürcher Käsehandel AG',
  'Αθηναϊκή Χαρτοποιία Α.Ε.',
  'Ελιές Μάνης Ο.Ε.',
  'Балтийский Чай ООО',
  'Київський Хліб ТОВ',
  'Българска Роза ЕООД',
  'Հայկական Գինի ՍՊԸ',
  'თბილისის ღვინო',
  'בית קפה הגליל',
  'شركة نخيل الخليج',
  'مخبز البركة',
  'हिमालय चाय कंपनी',
  'சென்னை பட்டு நிலையம்',
  'ร้านผ้าไหมเชียงใหม่',
  '株式会社さくら製作所',
  '東京ガラス工房',
  'カフェ・アオゾラ',
  '上海明月茶业有限公司',
  '臺北永豐書局',
  '한빛출판사',
  '서울달빛커피',
]
