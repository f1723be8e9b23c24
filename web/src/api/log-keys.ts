import { answerOf, client } from './client.ts'

/** The keys that sign checkpoints, as `log verify` takes them. */
export async function logKeys(): Promise<string[]> {
  const { keys } = await answerOf(client.GET('/v1/log/key'))
  return keys.map(({ verifierKey }) => verifierKey)
}
