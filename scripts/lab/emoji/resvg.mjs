// Rasterises SVG files over white: node resvg.mjs SIZE FROM TO, FROM/*.svg to TO/*.png in lower case.
import fs from 'node:fs'
import path from 'node:path'
import { Resvg } from '@resvg/resvg-js'

const [size, from, to] = process.argv.slice(2)
for (const name of fs.readdirSync(from).filter(f => f.endsWith('.svg'))) {
  const svg = fs.readFileSync(path.join(from, name))
  const r = new Resvg(svg, { fitTo: { mode: 'width', value: Number(size) }, background: 'white', font: { loadSystemFonts: false } })
  fs.writeFileSync(path.join(to, name.toLowerCase().replace(/svg$/, 'png')), r.render().asPng())
}
