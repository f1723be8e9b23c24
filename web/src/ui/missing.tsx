import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { PageTitle } from './page-title.tsx'

interface MissingProps {
  title: string
  words: ReactNode
  /** Where else to go. */
  link: LinkProps & { children: string }
}

/** Shown in place of a page that does not exist for this person. */
export function Missing({ title, words, link }: MissingProps) {
  return (
    <div className="empty">
      <PageTitle title={title} />
      <p className="soft">{words}</p>
      <Link {...link} className="button" />
    </div>
  )
}

export const outdatedLink = 'The link may be out of date or mistyped.'
export const toOrders = { to: '/orders', children: 'Go to orders' } as const
