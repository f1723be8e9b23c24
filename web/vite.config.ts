import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Where the service listens while its web app is served by vite (`npm run dev`). */
const service = process.env.SERVICE_URL ?? 'http://localhost:8080'
const apiPaths = ['/v1', '/health', '/.well-known', '/openapi', '/scalar']

// biome-ignore lint/style/noDefaultExport: vite reads the default export
export default defineConfig({
  plugins: [react()],
  build: {
    target: 'baseline-widely-available',
    // Everything is a separate file: the content security policy allows no inline script or style.
    assetsInlineLimit: 0,
    // One style sheet: one of a single view that fails to load would not be asked for again.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: {
    host: 'localhost',
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(apiPaths.map((path) => [path, { target: service, changeOrigin: false }])),
  },
})
