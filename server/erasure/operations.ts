import { eraseCustomer, eraseFromLog, erasePerson } from './erasure.ts'

export const writes = { erasePerson, eraseCustomer, eraseFromLog }
