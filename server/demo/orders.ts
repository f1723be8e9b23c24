import { newOrderId } from '../ids.ts'
import type { NewOrder } from '../orders/store.ts'

/** A demo order, and when and where the administrator approved it, if so. */
export interface DemoOrder {
  order: NewOrder
  approved: { nowMilliseconds: number; timeZone: string } | null
}

const orderCount = 250
const dayMilliseconds = 86_400_000
const periodMilliseconds = 90 * dayMilliseconds

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

/**
 * The same at every run, but for their ids and the running instant. The newest is some minutes old; the older ones
 * spread over the period.
 */
export function makeDemoOrders(nowMilliseconds: number): DemoOrder[] {
  const random = pseudoRandom(0x0c5161)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const ages = Array.from({ length: orderCount }, () =>
    Math.floor(random() * (periodMilliseconds - dayMilliseconds)),
  )
  return ages
    .sort((a, b) => b - a)
    .map((age) => {
      const createdAt = nowMilliseconds - age - 5 * 60_000
      const creator = pick(creators)
      const approvedAt = createdAt + 60_000 + Math.floor(random() ** 3 * 4 * dayMilliseconds)
      const isApproved = random() < 0.62 && approvedAt <= nowMilliseconds
      return {
        order: {
          id: newOrderId(createdAt),
          customer: pick(customers).normalize('NFC'),
          totalE4: makeTotal(random),
          createdAtTimeZone: pick(creator.zones),
          createdBy: creator.name,
        },
        approved: isApproved ? { nowMilliseconds: approvedAt, timeZone: pick(approverZones) } : null,
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
const customers = `
Abenteuer & Söhne GmbH | Aalto Sähkö Oy | Açaí do Norte Ltda. | Ægir Havfiske AS | Alder & Finch Ltd |
Ali Yılmaz Tekstil A.Ş. | Amberfield Grain Co-operative | Ångström Instrument AB |
Antoine Lefèvre & Cie | Atelier Brûlé SARL | Bäckerei Müller & Groß | Bizkaia Itsasontziak S.L. |
Blaženka Dvořáková s.r.o. | Bluewater Bay Marine Supplies | Boucherie de l’Étoile | Café Ñandú S.A.S. |
Călin și Fiii SRL | Carpintería Hermanos Núñez | Cedar Ridge Dental Group | Chłodnia Śląska sp. z o.o. |
Ciołek i Wspólnicy | Coöperatie De Groene Weide U.A. | Copperleaf Analytics, Inc. |
Đặng Minh Trà Co., Ltd | Delgado y Compañía | Donau Logistik KG | Dún Laoghaire Boatworks |
Eðvarð Fiskur ehf. | Élan Mécanique SA | Falcón Minería S.A. de C.V. | Färgfabriken Höst AB |
Fjällräv Utrustning HB | Garcia & O’Leary LLP | Grønn Kraft ASA | Großhandel Weiß e. K. |
Hälsokällan i Växjö | Harbour Lights Hotel | Ibarra–Quispe Exportaciones | İnci Gıda Sanayi |
Ironbark Timber Pty Ltd | Jöklar Ferðir ehf. | Kahurangi Wool Ltd | Kőszegi Borászat Kft. |
Krüger Präzisionsteile | L’Olivier de Tunis SUARL | Łódzkie Zakłady Tkackie | Lumière & Ombre |
Māori Pounamu Carvers | Mbeki Solar (Pty) Ltd | Nguyễn Văn Hải & Con | Northwind Orchard Supply |
Óbidos Cerâmica Lda. | Ødegård Møbler | Okonkwo Textiles Nigeria Ltd | Panadería La Cigüeña |
Pâtisserie Noël | Quinta da Conceição | Rīgas Dzintars SIA | Šumava Dřevo a.s. | Smörgås & Co 🥪 |
Sørensen Fisk ApS | Stonebridge Primary School | Tāne Mahuta Nurseries | Třebíč Sklárny |
Università Popolare di Cefalù | Vilniaus Ąžuolas UAB | Wójcik Żeglarstwo | Zürcher Käsehandel AG |
Αθηναϊκή Χαρτοποιία Α.Ε. | Ελιές Μάνης Ο.Ε. | Балтийский Чай ООО | Київський Хліб ТОВ |
Българска Роза ЕООД | Հայկական Գինի ՍՊԸ | თბილისის ღვინო | בית קפה הגליל | شركة نخيل الخليج |
مخبز البركة | हिमालय चाय कंपनी | சென்னை பட்டு நிலையம் | ร้านผ้าไหมเชียงใหม่ | 株式会社さくら製作所 | 東京ガラス工房 |
カフェ・アオゾラ | 上海明月茶业有限公司 | 臺北永豐書局 | 한빛출판사 | 서울달빛커피
`
  .split('|')
  .map((name) => name.trim())
