// A bare file as a log: so many records at once are appended with one write, then one fdatasync. `file FILE`, then on standard
// input `append RECORDS MILLISECONDS`. Records have 200 bytes and the two of their length, as in Freshet's journal.
#include "peer.h"
#include <fcntl.h>
#include <unistd.h>

enum { RECORD = 202, RECORDS_MAX = 100000 };

int main(int argc, char **argv) {
    int file = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file < 0) return fprintf(stderr, "usage: file FILE\n"), 2;
    char *bytes = malloc((size_t)RECORD * RECORDS_MAX);
    memset(bytes, 7, (size_t)RECORD * RECORDS_MAX);
    printf("{\"row\": \"open\"}\n");
    fflush(stdout);
    char line[128];
    while (fgets(line, sizeof line, stdin)) {
        long records;
        double milliseconds;
        if (sscanf(line, "append %ld %lf", &records, &milliseconds) != 2 || records < 1 || records > RECORDS_MAX)
            return fprintf(stderr, "append RECORDS MILLISECONDS\n"), 2;
        double start = microseconds_now(), now = start;
        double written = 0;
        while (now < start + milliseconds * 1000) {
            for (size_t done = 0, all = (size_t)(records * RECORD); done < all;) {
                ssize_t count = write(file, bytes + done, all - done);
                if (count < 0) return perror("write"), 1;
                done += (size_t)count;
            }
            if (fdatasync(file) != 0) return perror("fdatasync"), 1;
            written += (double)records;
            now = microseconds_now();
        }
        printf("{\"row\": \"append\", \"perSecond\": %f}\n", written / ((now - start) / 1e6));
        fflush(stdout);
    }
    return 0;
}
