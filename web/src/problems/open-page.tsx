import './open-page.css'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import mark from '../ui/mark.svg'

/** A page to read, for everyone: with or without an account. */
export function OpenPage({ children }: { children: ReactNode }) {
  return (
    <div className="open-page">
      <header className="open-page-header no-print">
        <Link to="/" className="brand">
          <img src={mark} alt="" width="28" height="28" />
          Countersign
        </Link>
      </header>
      <main className="stack gap-3 open-page-main">{children}</main>
    </div>
  )
}
