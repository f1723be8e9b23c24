import { post } from '../post.ts'
import { checkAnswer, requestFor } from './timestamps.ts'

const answerLimitBytes = 64 * 1024

/**
 * The authority's answer to this text, in base64. Throws an Error that says what is wrong with the answer, or
 * with the way to the authority.
 */
export async function ask(url: string, text: string, signal: AbortSignal): Promise<string> {
  const headers = { 'content-type': 'application/timestamp-query' }
  const { status, body } = await post({ url, headers, body: requestFor(text), answerLimitBytes, signal })
  if (status !== 200) throw new Error(`it answered ${status}`)
  checkAnswer(body, text)
  return body.toString('base64')
}
