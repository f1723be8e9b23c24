import { passOver, recordAttempt } from './outbox.ts'
import {
  addWebhook,
  changeWebhook,
  recordPing,
  removeWebhook,
  replayWebhook,
  rotateWebhookSecret,
} from './webhooks/webhooks.ts'

export const writes = {
  recordAttempt,
  passOver,
  addWebhook,
  changeWebhook,
  removeWebhook,
  rotateWebhookSecret,
  replayWebhook,
  recordPing,
}
