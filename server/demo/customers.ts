import { foldText } from '../orders/fold.ts'

export interface Customer {
  name: string
  /** The form in the column for search and sorting. */
  folded: string
}

/** A name is `{name} {trade} {form}` unless the culture says otherwise. */
interface Culture {
  names: string
  trades: string
  forms: string
  pattern?: string
}

/** Words are separated by commas. None of the combinations is meant to be a company that exists. */
const cultures: Culture[] = [
  {
    names:
      'Müller,Groß,Weiß,Kühn,Vogel,Hartwig,Lindner,Jäger,Brömse,Nußbaum,Färber,Ostermann,Rühl,Seidel,Thoß',
    trades: 'Präzisionsteile,Logistik,Backwaren,Gerüstbau,Möbelwerke,Großhandel,Optik,Kältetechnik,Druckerei',
    forms: 'GmbH,KG,AG,& Söhne',
  },
  {
    names:
      'Alder,Amberfield,Bluewater,Cedar Ridge,Copperleaf,Finch,Harbour,Ironbark,Northwind,Pennywell,Stonebridge,Thistle,Whitlock,Wren',
    trades: 'Dental Group,Marine Supplies,Analytics,Timber,Orchards,Foundry,Hotels,Stationers,Bakers,Freight',
    forms: 'Ltd,Inc.,LLP,plc,Pty Ltd,Co-operative',
  },
  {
    names:
      'Lefèvre,Brûlé,Étoile,Noël,Garçon,Béranger,Hémery,Châtelain,Fontaine,Rousseau,Maréchal,Joubert,Vasseur',
    trades: 'Mécanique,Pâtisserie,Ébénisterie,Vins,Textile,Maçonnerie,Librairie,Verrerie,Horlogerie',
    forms: 'SARL,SA,SAS,& Cie',
  },
  {
    names:
      'Núñez,Ibarra,Quispe,Delgado,Peña,Cigüeña,Muñoz,Ordóñez,Zúñiga,Villalba,Falcón,Iturbe,Castañeda,Güell',
    trades: 'Carpintería,Exportaciones,Panadería,Minería,Textiles,Transportes,Aceites,Imprenta,Óptica',
    forms: 'S.L.,S.A.,S.A.S.,y Compañía,S.A. de C.V.',
  },
  {
    names:
      'Ångström,Höst,Fjällräv,Växjö,Sørensen,Ødegård,Grønn,Ægir,Aalto,Sähkö,Jöklar,Eðvarð,Bjørnstad,Östlund',
    trades: 'Instrument,Møbler,Havfiske,Kraft,Skog,Verktyg,Bryggeri,Papper,Garn',
    forms: 'AB,AS,ASA,ApS,Oy,ehf.',
  },
  {
    names: 'Wójcik,Łódź,Śląsk,Ciołek,Żeglarz,Kowalczyk,Wiśniewska,Dąbrowski,Źródło,Pękała',
    trades: 'Żeglarstwo,Chłodnia,Tkalnia,Meble,Szkło,Drukarnia,Zboża,Elektryka',
    forms: 'sp. z o.o.,S.A.,i Wspólnicy',
  },
  {
    names: 'Балтийский,Северный,Киевский,Волжский,Уральский,Донской,Родопски',
    trades: 'Чай,Хлеб,Лес,Завод,Текстиль,Мёд,Фарфор',
    forms: 'ООО,АО,ТОВ,ЕООД',
  },
  {
    names: 'さくら,東京,青空,富士見,大和,北斗,みなと,桜井',
    trades: '製作所,ガラス工房,カフェ,運輸,製紙,精密,酒造',
    forms: '株式会社,有限会社,合同会社',
    pattern: '{form}{name}{trade}',
  },
  {
    names: 'نخيل,البركة,النور,الخليج,الياسمين',
    trades: 'شركة,مخبز,مصنع,مكتبة',
    forms: 'المحدودة,وشركاه,للتجارة',
    pattern: '{trade} {name} {form}',
  },
]

/** Every twentieth customer is named after a branch as well. */
const branches = [' Nord', ' – Export', ' (Kiel)', ' Lisboa', ' 🥪']
const branchInterval = 20

/** Every customer once, in an order unrelated to their names. The same `random` gives the same order. */
export function makeCustomers(random: () => number): Customer[] {
  const names = cultures.flatMap(({ names, trades, forms, pattern = '{name} {trade} {form}' }) =>
    names
      .split(',')
      .flatMap((name) =>
        trades
          .split(',')
          .flatMap((trade) =>
            forms
              .split(',')
              .map((form) =>
                pattern.replace('{name}', name).replace('{trade}', trade).replace('{form}', form),
              ),
          ),
      ),
  )
  for (let index = names.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1))
    ;[names[index], names[other]] = [names[other] as string, names[index] as string]
  }
  return names.map((plain, index) => {
    const branch = index % branchInterval === 0 ? branches[(index / branchInterval) % branches.length] : ''
    const name = `${plain}${branch}`.normalize('NFC')
    return { name, folded: foldText(name) }
  })
}
