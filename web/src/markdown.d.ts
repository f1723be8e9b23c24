/** A Markdown file, as web/markdown.ts makes it part of the app. */
declare module '*.md' {
  import type { ReactNode } from 'react'

  export const title: string
  /** The content after the title. */
  export const content: ReactNode
}
