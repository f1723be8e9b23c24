import { beginMail } from './mail.ts'
import { putMailSettings, queueDigests } from './settings.ts'
import { claimMail, dropMail, noteSentMail, sentMails } from './store.ts'

export const writes = { beginMail, putMailSettings, queueDigests, claimMail, noteSentMail, dropMail }

export const jobs = [sentMails]
