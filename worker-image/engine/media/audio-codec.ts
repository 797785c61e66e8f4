/** The audio codecs that are encoded. `pcm` stands for all sample formats of WAV. */
export type AudioCodec = 'aac' | 'mp3' | 'vorbis' | 'opus' | 'pcm' | 'flac' | 'alac';
