import type { ProblemCode } from '../../../problems/catalogue.ts'

/** Why a company account cannot be used: a code of the catalogue for the person, and a cause for the log. */
export class CompanyFailure extends Error {
  override name = 'CompanyFailure'
  readonly code: ProblemCode

  constructor(code: ProblemCode, why: string, options?: ErrorOptions) {
    super(why, options)
    this.code = code
  }
}
