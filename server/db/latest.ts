/** A map of the entries that were set last: one more than `limit` ends the oldest. */
export class Latest<Value> extends Map<string, Value> {
  readonly #limit: number

  constructor(limit: number) {
    super()
    this.#limit = limit
  }

  override set(key: string, value: Value): this {
    this.delete(key)
    super.set(key, value)
    const [oldest = key] = this.keys()
    if (this.size > this.#limit) this.delete(oldest)
    return this
  }
}
