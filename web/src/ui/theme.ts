import { observable } from './observable.ts'
import { inBrowser } from './persist.ts'

export const themes = [
  { label: 'Automatic', value: 'system' },
  { label: 'Light', value: 'light' },
  { label: 'Dark', value: 'dark' },
] as const
type Theme = (typeof themes)[number]['value']

const saved = inBrowser.read('theme')
const theme = observable<Theme>(themes.find(({ value }) => value === saved)?.value ?? 'system')

export const useTheme = theme.use

export function applyTheme(): void {
  if (theme.get() === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.get()
}

export function setTheme(next: Theme): void {
  theme.set(next)
  inBrowser.write('theme', next)
  applyTheme()
}
