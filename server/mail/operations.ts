import { putMailSettings, queueDigests } from './settings.ts'
import { claimMail, dropMail, noteSentMail, sentMails } from './store.ts'

export const writes = { putMailSettings, queueDigests, claimMail, noteSentMail, dropMail }

export const jobs = [sentMails]
