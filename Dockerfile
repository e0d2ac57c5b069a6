# One image for every process of the site: what it runs is its arguments, those of manage.py.
#   docker build --tag ragsite:local . && docker run --init --publish 127.0.0.1:8000:8000 --volume ragsite:/data ragsite:local

FROM python:3.13-slim-trixie AS packages
COPY requirements.txt /tmp/
RUN python -m venv --without-pip /opt/venv && \
    python -m pip --python /opt/venv/bin/python install --no-cache-dir --only-binary :all: --require-hashes \
        --requirement /tmp/requirements.txt

FROM python:3.13-slim-trixie
# What reads Word, Excel and PowerPoint files of before 2007; `--build-arg LIBREOFFICE=` leaves it out.
ARG LIBREOFFICE="libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui"
# hadolint ignore=DL3008
RUN if [ -n "$LIBREOFFICE" ]; then \
        apt-get update -q && apt-get install -q -y --no-install-recommends $LIBREOFFICE && rm -rf /var/lib/apt/lists/*; \
    fi
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin ragsite && \
    install --directory --owner ragsite --group ragsite --mode 700 /data
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 RAGSITE_DATA_DIR=/data
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
COPY . .
# Its user may not write here, so that each start would compile anew.
RUN python -m compileall -q .
USER 10001:10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-c", "\
from http.client import HTTPConnection; site = HTTPConnection('127.0.0.1', 8000, timeout=4); \
site.request('GET', '/healthz'); assert site.getresponse().status == 200"]
ENTRYPOINT ["python", "manage.py"]
CMD ["up", "--host", "0.0.0.0"]
