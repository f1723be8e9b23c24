import type { ReactNode } from 'react'

interface CheckProps {
  isOn: boolean
  onTurn(isOn: boolean): void
  isDisabled?: boolean
  className?: string
  children: ReactNode
}

export function Check({ isOn, onTurn, isDisabled, className = '', children }: CheckProps) {
  return (
    <label className={`row nowrap ${className}`}>
      <input
        type="checkbox"
        checked={isOn}
        disabled={isDisabled}
        onChange={({ target }) => onTurn(target.checked)}
      />
      {children}
    </label>
  )
}
