/** Returns an SVG drawing with flat colors, lines, text and transparency. */
export function graphic(width: number, height: number): string {
  const bars = Array.from({ length: 24 }, (_, index) => {
    const tall = 60 + ((index * 83) % 290);
    return `<rect x="${90 + index * 58}" y="${height - 120 - tall}" width="40" height="${tall}" rx="5" fill="hsl(${200 + index * 4},65%,${40 + (index % 3) * 10}%)"/>`;
  });
  const points = Array.from(
    { length: 24 },
    (_, index) => `${110 + index * 58},${height - 560 - 90 * Math.sin(index / 2.7)}`,
  );
  const dots = points.map(
    (point) => `<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="9" fill="#d9480f"/>`,
  );
  const labels = Array.from(
    { length: 24 },
    (_, index) => `<text x="${92 + index * 58}" y="${height - 85}" font-size="20">w${index + 1}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="DejaVu Sans">
    <defs><linearGradient id="fade" x2="0" y2="1"><stop offset="0" stop-color="#1864ab" stop-opacity="0.55"/><stop offset="1" stop-color="#1864ab" stop-opacity="0"/></linearGradient></defs>
    <rect x="30" y="30" width="${width - 60}" height="${height - 60}" rx="28" fill="#f8f9fa"/>
    <text x="90" y="120" font-size="54" font-weight="bold" fill="#212529">Walkers per week</text>
    <polygon points="110,${height - 120} ${points.join(' ')} ${110 + 23 * 58},${height - 120}" fill="url(#fade)"/>
    ${bars.join('')}
    <polyline points="${points.join(' ')}" fill="none" stroke="#d9480f" stroke-width="5"/>
    ${dots.join('')}${labels.join('')}
  </svg>`;
}
