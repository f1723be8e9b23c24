import type { ReactNode } from 'react'

/** Line icons on a grid of 20, in the colour of the text; decoration only, so hidden from screen readers. */
function Icon({ children }: { children: ReactNode }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      {children}
    </svg>
  )
}

export const OverviewIcon = () => (
  <Icon>
    <path d="M3 16.500h14M5.5 13v-3M10 13V5M14.5 13V8" />
  </Icon>
)
export const OrdersIcon = () => (
  <Icon>
    <path d="M4 5.500h12M4 10h12M4 14.500h7" />
  </Icon>
)
export const PlusIcon = () => (
  <Icon>
    <path d="M10 4.500v11M4.5 10h11" />
  </Icon>
)
export const SearchIcon = () => (
  <Icon>
    <circle cx="9" cy="9" r="5" />
    <path d="m13 13 3.5 3.5" />
  </Icon>
)
export const CheckIcon = () => (
  <Icon>
    <path d="m4.5 10.5 3.5 3.5 7.5-8" />
  </Icon>
)
export const CloseIcon = () => (
  <Icon>
    <path d="m5.5 5.5 9 9M14.5 5.500l-9 9" />
  </Icon>
)
export const ClockIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="6.5" />
    <path d="M10 6.500V10l2.5 1.5" />
  </Icon>
)
export const WarningIcon = () => (
  <Icon>
    <path d="M10 3.5 2.8 16h14.400zM10 8.500v3.500M10 14.200v.1" />
  </Icon>
)
export const ArrowIcon = ({ to }: { to: keyof typeof arrows }) => (
  <Icon>
    <path d={arrows[to]} />
  </Icon>
)
const arrows = {
  up: 'M10 15.500v-11m-4 4 4-4 4 4',
  down: 'M10 4.500v11m-4-4 4 4 4-4',
  left: 'm11.5 5-5 5 5 5',
  right: 'm8.5 5 5 5-5 5',
  first: 'm14 5-5 5 5 5M6 5v10',
  last: 'm6 5 5 5-5 5M14 5v10',
}
export const SignOutIcon = () => (
  <Icon>
    <path d="M8 4H4.500v12H8M8.5 10H17m-3-3 3 3-3 3" />
  </Icon>
)
export const ThemeIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="6.5" />
    <path className="icon-filled" d="M10 3.500a6.5 6.5 0 0 1 0 13z" />
  </Icon>
)
export const KeyboardIcon = () => (
  <Icon>
    <path d="M3 6h14v8.500H3zM6 9h.1M10 9h.1M14 9h.1M7 12h6" />
  </Icon>
)
export const CopyIcon = () => (
  <Icon>
    <path d="M7.500 7.500h8.500v8.500H7.500zM12.500 7.500V4H4v8.500h3.500" />
  </Icon>
)
