import { announce } from './announce.ts'

export async function copy(text: string, name: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    announce(`${name} copied`)
  } catch {
    announce('Your browser does not allow copying here. Select the text and copy it yourself.')
  }
}
