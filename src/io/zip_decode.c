/*
 * zip_decode.c - a step of a member of an archive: its compression, size and checksum.
 *
 * Implements zip_decode_begin() and zip_decode() of zip_int.h, for the thread that reads (zip.c)
 * and for those that decode ahead of it (zip_ahead.c).
 */
#include "zip_int.h"

/* Of the bytes that the codec took the last N are not the member's. */
static void give_back(struct zip_decoder *d, size_t n)
{
    uint64_t taken = trod_zip_tell(&d->in) - d->begun;

    if (n > taken)
        n = (size_t)taken;
    d->in.at -= n < d->in.at ? n : d->in.at;
}

int zip_decode_begin(struct zip_decoder *d, const struct trod_zip_member *m)
{
    d->begun = trod_zip_tell(&d->in);
    d->left = m->packed;
    d->made = 0;
    d->crc = 0;
    return trod_zip_codec_begin(d->codec, m->method);
}

enum zip_step zip_decode(struct zip_decoder *d, const struct trod_zip_member *m, uint8_t *out,
                         size_t *made, const char **why)
{
    size_t in;
    int rc;

    if (d->left && d->in.at == d->in.n)
        trod_zip_need(&d->in, 1);
    in = d->in.n - d->in.at;
    if (in > d->left)
        in = (size_t)d->left;
    if (m->method == TROD_ZIP_STORED && d->left == 0) {
        *made = 0;
        return ZIP_ENDS;
    }
    if (m->size != TROD_NOWHERE && *made > m->size - d->made + 1)
        *made = (size_t)(m->size - d->made + 1); /* one byte more shows that there are too many */
    rc = trod_zip_codec_step(d->codec, trod_zip_at(&d->in), &in, out, made, why);
    d->in.at += in;
    if (d->left != TROD_NOWHERE)
        d->left -= in;
    if (rc < 0 && *made == 0 && d->made == m->size && d->crc == m->crc)
        return ZIP_ENDS; /* what follows its last frame is of something else */
    if (rc < 0)
        return ZIP_CORRUPT;
    d->crc = trod_zip_crc(d->crc, out, *made);
    d->made += *made;
    if (m->size != TROD_NOWHERE && d->made > m->size) {
        *made -= (size_t)(d->made - m->size);
        return ZIP_TOO_LONG;
    }
    if (rc == 1 && m->method == TROD_ZIP_ZSTD && d->left != TROD_NOWHERE && d->left > 0)
        rc = 0; /* another frame follows */
    if (rc == 1) {
        give_back(d, trod_zip_codec_unused(d->codec));
        return ZIP_ENDS;
    }
    return in == 0 && *made == 0 ? ZIP_STARVED : ZIP_GOES_ON;
}
