// First, so that each part may change what is common.
import './style/tokens.css'
import './style/base.css'

import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { SessionGate } from './session/session-gate.tsx'

const place = document.getElementById('root')
if (place === null) throw new Error('the page has no #root')

createRoot(place).render(
  <StrictMode>
    <SessionGate>{(session) => <App session={session} />}</SessionGate>
  </StrictMode>,
)
