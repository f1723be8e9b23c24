import { parseArgs } from 'node:util'

export interface BenchOptions {
  /** Orders of the table's data set. */
  orders: number
  /** How many users call in turn. */
  users: number
  rounds: number
  seconds: number
  /** The data sets of the growth table, smallest first; empty for none. */
  growth: number[]
  postgres: boolean
  /** Only scenarios whose name contains this. */
  only: string
  peers: boolean
  /** The name of the result's file. */
  label: string
}

const usage = `npm run bench -- [--quick] [--large] [--orders N] [--rounds N] [--seconds N] [--only TEXT]
                 [--no-postgres] [--no-growth] [--label TEXT]`

/** Throws with the usage when the arguments are not understood. */
export function readOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
      orders: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string', default: '' },
      postgres: { type: 'boolean', default: true },
      growth: { type: 'boolean', default: true },
      peers: { type: 'boolean', default: false },
      label: { type: 'string' },
    },
    allowNegative: true,
  })
  const number = (text: string | undefined, otherwise: number) => {
    const value = text === undefined ? otherwise : Number(text)
    if (!(value > 0)) throw new Error(usage)
    return value
  }
  const { quick, large } = values
  const orders = number(values.orders, quick ? 2_000 : 1_000_000)
  const sizes = quick ? [1_000, 2_000] : [10_000, 1_000_000, ...(large ? [10_000_000] : [])]
  return {
    orders,
    users: quick ? 10 : 100,
    rounds: number(values.rounds, quick ? 1 : 5),
    seconds: number(values.seconds, quick ? 0.02 : 2),
    growth: values.growth && !values.peers ? sizes : [],
    postgres: values.postgres && !quick,
    only: values.only,
    peers: values.peers,
    label: values.label ?? (values.peers ? 'peers' : quick ? 'quick' : large ? 'bench-large' : 'bench'),
  }
}
