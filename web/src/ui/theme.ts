import { observable } from './observable.ts'
import { inBrowser } from './persist.ts'

type Theme = 'system' | 'light' | 'dark'
const order: Theme[] = ['system', 'light', 'dark']
const saved = inBrowser.read('theme')
const theme = observable<Theme>(order.find((name) => name === saved) ?? 'system')

export const useTheme = theme.use

export function applyTheme(): void {
  if (theme.get() === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.get()
}

export function turnTheme(): void {
  theme.set(order[(order.indexOf(theme.get()) + 1) % order.length] ?? 'system')
  inBrowser.write('theme', theme.get())
  applyTheme()
}
